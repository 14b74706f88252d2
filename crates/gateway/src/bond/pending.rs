//! Handshakes that the hub has answered, and that no packet has confirmed yet.

use crate::session::message::KEY;
use crate::session::offer::Generation;
use crate::session::transport::Transport;
use ropewalk_bonding::Config;
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;

/// How long an answer waits for the datagram that confirms it.
const LIFE: Duration = Duration::from_secs(10);
/// The most unconfirmed answers of one site. A further one replaces the oldest.
const OF_ONE: usize = 4;
/// How many questions are remembered. A question that comes by several paths then costs one
/// handshake.
const REMEMBERED: usize = 64;

/// An answered handshake. Its session begins with its first datagram.
pub(super) struct Pending {
    pub(super) transport: Transport,
    pub(super) generation: Generation,
    pub(super) is_fresh: bool,
    pub(super) bond: Config,
    pub(super) at: Instant,
}

/// Those of one site, the oldest first.
#[derive(Default)]
pub(super) struct PendingSessions(VecDeque<Pending>);

impl PendingSessions {
    /// Adds one. Returns the name of the one that it replaced.
    pub(super) fn push(&mut self, pending: Pending) -> Option<u32> {
        self.0.push_back(pending);
        if self.0.len() <= OF_ONE {
            return None;
        }
        self.0.pop_front().map(|pending| pending.transport.local)
    }

    pub(super) fn get_mut(&mut self, name: u32) -> Option<&mut Pending> {
        self.0.iter_mut().find(|pending| pending.transport.local == name)
    }

    /// Takes one out, with the names of all older ones, which nobody will confirm.
    pub(super) fn take(&mut self, name: u32) -> Option<(Pending, Vec<u32>)> {
        let place = self.0.iter().position(|pending| pending.transport.local == name)?;
        let older = self.0.drain(..place).map(|pending| pending.transport.local).collect();
        self.0.pop_front().map(|pending| (pending, older))
    }

    /// The names of those that nobody has confirmed in time.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<u32> {
        let is_old = |pending: &Pending| now.saturating_since(pending.at) >= LIFE;
        let count = self.0.iter().take_while(|pending| is_old(pending)).count();
        self.0.drain(..count).map(|pending| pending.transport.local).collect()
    }

    pub(super) fn expires_at(&self) -> Instant {
        self.0.front().map_or(Instant::MAX, |pending| pending.at + LIFE)
    }
}

/// Answers to recent questions, by the questions' ephemeral keys.
#[derive(Default)]
pub(super) struct Answered(VecDeque<([u8; KEY], Vec<u8>)>);

impl Answered {
    pub(super) fn get(&self, ephemeral: &[u8; KEY]) -> Option<&[u8]> {
        let known = self.0.iter().find(|(known, _)| known == ephemeral);
        known.map(|(_, answer)| answer.as_slice())
    }

    pub(super) fn push(&mut self, ephemeral: [u8; KEY], answer: Vec<u8>) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((ephemeral, answer));
    }
}
