//! A hub whose name stands for another address. The other address is tried beside the known one,
//! and taken when the hub answers there.

use super::{Notice, Site, Way};
use ropewalk_units::Instant;
use std::net::SocketAddr;

impl Site {
    /// Is the hub's name to be looked up? Each wish is told once.
    pub const fn poll_lookup(&mut self) -> bool {
        std::mem::replace(&mut self.wants_lookup, false)
    }

    /// Takes the addresses that names stand for now, each with the socket of its path. What comes
    /// while the hub is heard is ignored.
    pub fn handle_addresses(&mut self, now: Instant, found: &[(usize, SocketAddr)]) {
        if self.tunnel.is_some() && !self.is_silent(now) {
            return;
        }
        for (place, path) in self.config.paths.iter().enumerate() {
            let found = found.iter().find(|(socket, _)| *socket == path.way.socket);
            let Some(&(_, to)) = found else { continue };
            let other = Some(to).filter(|to| *to != path.way.to);
            if other.is_some() && self.others[place] != other {
                let name = self.config.bond.paths[place].name.clone();
                self.notices.push_back(Notice::Renamed { path: name, from: path.way.to, to });
                self.question.iter_mut().for_each(|question| question.unsent.push((place, to)));
            }
            self.others[place] = other;
        }
    }

    /// Whom a question goes to, by the places of the paths.
    pub(super) fn addressees(&self) -> Vec<(usize, SocketAddr)> {
        let known = self.config.paths.iter().map(|path| path.way.to).enumerate();
        let others = self.others.iter().enumerate().filter_map(|(place, other)| Some((place, (*other)?)));
        known.chain(others).collect()
    }

    /// The hub has answered a question, authentically. If it did so at another address, all paths
    /// with another address lead there from now on: nothing came by the known ones. In each case
    /// the search is over.
    pub(super) fn settle(&mut self, at: Way) {
        let others = std::mem::take(&mut self.others);
        let places = self.config.paths.iter_mut().zip(others).enumerate();
        let moved = places.filter_map(|(place, (path, other))| Some((place, path, other?)));
        let mut moved = moved.collect::<Vec<_>>();
        if !moved.iter().any(|(_, path, other)| path.way.socket == at.socket && *other == at.to) {
            return;
        }
        for (place, path, to) in &mut moved {
            let name = self.config.bond.paths[*place].name.clone();
            self.notices.push_back(Notice::Moved { path: name, from: path.way.to, to: *to });
            path.way.to = *to;
            if let Some((_, tunnel)) = &mut self.tunnel {
                tunnel.set_way(*place, path.way);
            }
        }
    }
}
