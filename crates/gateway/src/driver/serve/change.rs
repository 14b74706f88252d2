//! Changes of paths while packets flow.

use super::{ETHERNET, Loop};
use crate::bond::{Level, PathKeys, PathRow, SitePathChange};
use crate::config::Line;
use crate::driver::clock::now;
use crate::driver::outside::Outlet;
use crate::driver::request::PathChange;
use crate::session::offer::{NAME, name_is_good};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

impl Loop {
    /// Changes paths. Errors say what is wrong with the change.
    pub(super) fn change(&mut self, change: PathChange) -> Result<(), String> {
        if matches!(&change, PathChange::Set { keys, .. } if *keys == PathKeys::default()) {
            return Err("nothing to change: --cost, --weight, --max-weight, --quota, --quota-period".into());
        }
        let what = said(&change);
        match change {
            PathChange::Set { site: Some(site), name: path, keys } => {
                self.core.set_site_path(now(), &SitePathChange { site, path, keys })?;
            }
            own => self.change_own(own)?,
        }
        self.tell("by-hand", what, Level::Information);
        Ok(())
    }

    /// Changes the paths of a site.
    fn change_own(&mut self, change: PathChange) -> Result<(), String> {
        const OF_SITES: &str =
            "a hub takes the paths of its sites: `path set --site` changes keys of its own end";
        let now = now();
        let mut rows = self.core.paths().ok_or(OF_SITES)?;
        let place = |name: &str| {
            let found = rows.iter().position(|row| row.name == name);
            found.ok_or_else(|| format!("there is no path {name}"))
        };
        let (mut added, mut removed) = (None, None);
        match change {
            PathChange::Add { name, interface, address, remote, host, keys } => {
                if !name_is_good(&name) {
                    return Err(format!("the path's name: expected {NAME}"));
                }
                // Without an address of its own it leads where the first path does.
                let first = rows.first().map(|row| (row.remote, self.lines[row.socket].host.clone()));
                let (remote, host) =
                    remote.map(|remote| (remote, host)).or(first).ok_or("the hub's address is not known")?;
                if let (Some(host), None) = (&host, &self.resolver) {
                    let what = format!("{host} is not looked up again: the configuration names no host");
                    self.tell("names", what, Level::Information);
                }
                if address.is_some_and(|own| own.is_ipv4() != remote.is_ipv4()) {
                    return Err(format!("an address of the family of {remote} is needed"));
                }
                let any: IpAddr = if remote.is_ipv4() {
                    Ipv4Addr::UNSPECIFIED.into()
                } else {
                    Ipv6Addr::UNSPECIFIED.into()
                };
                let local = SocketAddr::new(address.unwrap_or(any), 0);
                // The place of a path that was removed, or a new one.
                let is_free = |socket: &usize| rows.iter().all(|row| row.socket != *socket);
                let socket = (0..self.outlets.len()).find(is_free).unwrap_or(self.outlets.len());
                rows.push(PathRow { name: name.clone(), keys, socket, remote, mtu: ETHERNET });
                added = Some((socket, Line { name, interface, local, remote, host, mtu: ETHERNET }));
            }
            PathChange::Remove { name } => removed = Some(rows.remove(place(&name)?).socket),
            PathChange::Set { name, keys, site: _ } => {
                let place = place(&name)?;
                rows[place].keys = keys.or(rows[place].keys);
            }
        }
        self.core.set_paths(now, &rows)?;
        if let Some((socket, line)) = added {
            put(&mut self.outlets, socket, Outlet::of_line(&line, self.mark, self.offload, now));
            put(&mut self.lines, socket, line);
        }
        if let Some(socket) = removed {
            self.outlets[socket].retire();
            self.lines[socket].host = None;
        }
        Ok(())
    }
}

/// What has been changed, for the log.
fn said(change: &PathChange) -> String {
    match change {
        PathChange::Add { name, .. } => format!("path {name} was added by hand: a new bond begins"),
        PathChange::Remove { name } => format!("path {name} was removed by hand: a new bond begins"),
        PathChange::Set { site: None, name, .. } => format!("keys of path {name} were changed by hand"),
        PathChange::Set { site: Some(site), name, .. } => {
            format!("keys of path {name} of {site} were changed by hand")
        }
    }
}

/// Puts `new` in its place, which may be the one after the last.
fn put<T>(all: &mut Vec<T>, place: usize, new: T) {
    match all.get_mut(place) {
        Some(old) => *old = new,
        None => all.push(new),
    }
}
