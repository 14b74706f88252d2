//! A hub whose name stands for another address. The other address is tried beside the known one,
//! and taken when the hub answers there. If the hub is silent, questions go to both; if one path
//! is down, all that it sends goes to both.

use super::{Notice, Site, Way};
use ropewalk_units::Instant;
use std::net::SocketAddr;

/// The most copies that wait to be sent.
const COPIES: usize = 16;

impl Site {
    /// Are names to be looked up? Each wish is told once.
    pub const fn poll_lookup(&mut self) -> bool {
        std::mem::replace(&mut self.wants_lookup, false)
    }

    /// Takes the addresses that names stand for now, each with the socket of its path. What comes
    /// for a path by which the hub is heard is ignored.
    pub fn handle_addresses(&mut self, now: Instant, found: &[(usize, SocketAddr)]) {
        let is_silent = self.tunnel.is_none() || self.is_silent(now);
        for (place, path) in self.config.paths.iter().enumerate() {
            if !is_silent && !self.is_down(place) {
                continue;
            }
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

    fn is_down(&self, place: usize) -> bool {
        self.tunnel.as_ref().is_some_and(|(_, tunnel)| tunnel.is_down(place))
    }

    /// Is a path down while the hub is heard by another?
    pub(super) fn is_one_down(&self, now: Instant) -> bool {
        let is_heard = self.tunnel.is_some() && !self.is_silent(now);
        is_heard && (0..self.config.paths.len()).any(|place| self.is_down(place))
    }

    /// Has names looked up for paths that stay down, and forgets other addresses of those that work.
    pub(super) fn look_after_paths(&mut self, now: Instant) {
        if self.is_one_down(now) {
            self.wants_lookup |= !self.is_over && self.path_lookups.take(now);
        } else {
            self.path_lookups.heard(now);
        }
        if self.tunnel.is_some() && !self.is_silent(now) {
            for place in 0..self.config.paths.len() {
                self.others[place] = self.others[place].filter(|_| self.is_down(place));
            }
        }
    }

    /// What a path that is down sends goes to its other address, too. A copy that comes second is
    /// dropped there as one that was repeated.
    pub(super) fn copy(&mut self, now: Instant, way: Way, datagram: &[u8]) {
        if self.others.iter().all(Option::is_none) || self.is_silent(now) {
            return;
        }
        let place = self.config.paths.iter().position(|path| path.way.socket == way.socket);
        let other = place.filter(|place| self.is_down(*place)).and_then(|place| self.others[place]);
        if let Some(to) = other.filter(|_| self.copies.len() < COPIES) {
            self.copies.push_back((Way { to, ..way }, datagram.to_vec()));
        }
    }

    /// Something came by a way. If the path follows it to its other address, that is known from now on.
    pub(super) fn settle_path(&mut self, way: Way) {
        if self.others.iter().all(Option::is_none) {
            return;
        }
        let Some((_, tunnel)) = &self.tunnel else { return };
        let mut places = self.config.paths.iter().zip(&self.others).enumerate();
        let moved = places.find(|(place, (path, other))| {
            let follows = tunnel.way(*place).map(|follows| follows.to);
            path.way.socket == way.socket && other.is_some() && follows == **other
        });
        if let Some((place, _)) = moved {
            self.lead_to_other(place);
        }
    }

    /// Whom a question goes to, by the places of the paths.
    pub(super) fn addressees(&self) -> Vec<(usize, SocketAddr)> {
        let known = self.config.paths.iter().map(|path| path.way.to).enumerate();
        let others = self.others.iter().enumerate().filter_map(|(place, other)| Some((place, (*other)?)));
        known.chain(others).collect()
    }

    /// The hub has answered a question, authentically. If it did so at a path's other address, that
    /// path leads there from now on. If nothing was heard before, all paths with another address do,
    /// and in each case the search is over.
    pub(super) fn settle(&mut self, now: Instant, at: Way) {
        let was_silent = self.tunnel.is_none() || self.is_silent(now);
        let places = self.config.paths.iter().zip(self.others);
        let answered = places.map(|(path, other)| path.way.socket == at.socket && other == Some(at.to));
        let answered = answered.collect::<Vec<_>>();
        let is_elsewhere = answered.contains(&true);
        for (place, has_answered) in answered.into_iter().enumerate() {
            if has_answered || was_silent && is_elsewhere {
                self.lead_to_other(place);
            }
        }
        if was_silent {
            self.others = Default::default();
        }
    }

    /// A path leads to its other address from now on, if it has one.
    fn lead_to_other(&mut self, place: usize) {
        let Some(to) = self.others[place].take() else { return };
        let (path, name) = (&mut self.config.paths[place], self.config.bond.paths[place].name.clone());
        self.notices.push_back(Notice::Moved { path: name, from: path.way.to, to });
        path.way.to = to;
        if let Some((_, tunnel)) = &mut self.tunnel {
            tunnel.set_way(place, path.way);
        }
    }
}
