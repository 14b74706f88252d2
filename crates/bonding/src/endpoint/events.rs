//! A bounded queue of events.

use crate::event::Event;
use std::collections::VecDeque;

/// The most events kept for a driver that does not poll.
const MOST: usize = 64;

/// The events, oldest first. Those that do not fit are only counted.
pub(super) struct Events {
    queue: VecDeque<Event>,
    overrun: u32,
}

impl Default for Events {
    fn default() -> Self {
        Self { queue: VecDeque::with_capacity(MOST), overrun: 0 }
    }
}

impl Events {
    pub(super) fn push(&mut self, event: Event) {
        if self.queue.len() < MOST {
            self.queue.push_back(event);
        } else {
            self.overrun = self.overrun.saturating_add(1);
        }
    }

    /// The next event; after the last one, how many did not fit.
    pub(super) fn pop(&mut self) -> Option<Event> {
        match self.queue.pop_front() {
            None if self.overrun > 0 => Some(Event::Overrun { events: std::mem::take(&mut self.overrun) }),
            event => event,
        }
    }
}
