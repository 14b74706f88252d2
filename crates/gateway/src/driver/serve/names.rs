//! The hub's name, when the hub is silent or a path is down.

use super::super::clock::now;
use super::super::resolver::{Answer, LookupUser, Resolver, address_for, lookup_user, names};
use super::Loop;
use crate::bond::Level;
use crate::config::{Config, Part};
use std::net::{IpAddr, SocketAddr};

/// Starts the process that looks names up, if there are any. Without it the known addresses stay.
pub(super) fn resolver(config: &Config) -> Option<(Resolver, LookupUser)> {
    let Part::Site { lines, .. } = &config.part else { return None };
    if names(lines).is_empty() {
        return None;
    }
    let user = lookup_user(&config.user, config.mark);
    Resolver::start(&user, config.seccomp)
        .inspect_err(|error| tracing::warn!(reason = %error, "the hub's name is looked up only once"))
        .ok()
        .map(|resolver| (resolver, user))
}

impl Loop {
    /// Has the names looked up if the hub is silent, or if it is heard by some paths only.
    pub(super) fn look_up(&mut self) {
        if !self.core.poll_lookup() {
            return;
        }
        let Some(resolver) = &mut self.resolver else { return };
        let asked = names(&self.lines).into_iter().filter(|name| resolver.ask(name)).collect::<Vec<_>>();
        for name in asked {
            self.tell_of_hub(
                format!("the hub is silent by one path at least: {name} is looked up"),
                Level::Information,
            );
        }
    }

    /// Takes what the process has found.
    pub(super) fn take_answers(&mut self) {
        while let Some(answer) = self.resolver.as_mut().map(Resolver::answer) {
            match answer {
                Ok(None) => return,
                Ok(Some(answer)) => self.take_answer(answer),
                Err(_) => {
                    let what = "the process that looks names up has ended: known addresses stay";
                    self.tell_of_hub(what.to_owned(), Level::Warning);
                }
            }
        }
    }

    fn take_answer(&mut self, answer: Answer) {
        let Answer { name, found } = answer;
        let found = match found {
            Ok(found) => found,
            Err(reason) => {
                return self.tell_of_hub(format!("{name} cannot be looked up: {reason}"), Level::Warning);
            }
        };
        let pairs = self.pairs(&name, &found);
        if pairs.is_empty() {
            let what = format!("{name} has no address that a path can reach");
            return self.tell_of_hub(what, Level::Warning);
        }
        if pairs.iter().all(|(known, _, to)| known == to) {
            self.tell_of_hub(format!("{name} stands for the address that is known"), Level::Information);
        }
        let pairs = pairs.into_iter().map(|(_, socket, to)| (socket, to)).collect::<Vec<_>>();
        self.core.handle_addresses(now(), &pairs);
    }

    /// For each path with this name: the known address, its socket, and the address to try.
    fn pairs(&self, name: &str, found: &[IpAddr]) -> Vec<(SocketAddr, usize, SocketAddr)> {
        let rows = self.core.paths().unwrap_or_default().into_iter();
        let named = rows.filter(|row| self.lines[row.socket].host.as_deref() == Some(name));
        named.filter_map(|row| Some((row.remote, row.socket, address_for(row.remote, found)?))).collect()
    }

    fn tell_of_hub(&mut self, what: String, level: Level) {
        self.tell("names", what, level);
    }
}
