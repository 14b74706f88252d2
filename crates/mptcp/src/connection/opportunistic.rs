//! Opportunistic retransmission and penalization (Raiciu et al., NSDI 2012 §4.2; Paasch et al., CSWS 2014).

use super::{Connection, Reinjection};
use crate::event::Event;
use crate::send_queue::Sent;
use ropewalk_units::Instant;

impl Connection {
    /// The connection-level window is full although a subflow has room: the oldest range holds it up. That range goes
    /// to the subflow with room, and the subflows that hold it back are penalized.
    pub(super) fn relieve_window(&mut self, now: Instant) {
        let wanted = self.config.opportunistic_retransmission || self.config.penalization;
        if !wanted || self.sending.queue.unscheduled() == 0 || self.sending.window_left() > 0 {
            return;
        }
        self.planner.renew(&mut self.subflows);
        let Some(&head) = self.sending.queue.head() else { return };
        let Some(at) = self.fastest_with_room() else { return };
        if self.config.penalization {
            self.penalize(now, at, &head);
        }
        if self.config.opportunistic_retransmission && head.carriers & self.subflows[at].bit() == 0 {
            let smss = self.planner.views()[at].smss;
            self.stats.opportunistic_retransmissions += 1;
            self.place_again(at, &head, smss, Reinjection::Opportunistic);
        }
    }

    fn fastest_with_room(&self) -> Option<usize> {
        let usable = self.subflows.live.iter().map(|&at| (at as usize, &self.planner.views()[at as usize]));
        let ready = usable.filter(|(_, view)| view.usable && view.has_room(u64::from(view.smss)));
        ready.min_by_key(|(_, view)| (view.backup, view.srtt)).map(|(at, _)| at)
    }

    /// At most once per round-trip time of the fast subflow: halves the windows of slower subflows that carried
    /// the head and are not in recovery.
    fn penalize(&mut self, now: Instant, fast: usize, head: &Sent) {
        let Some(srtt) = self.planner.views()[fast].srtt else { return };
        if self.subflows[fast].penalized_at.is_some_and(|last| now.saturating_since(last) < srtt) {
            return;
        }
        let mut penalized = false;
        for index in 0..self.subflows.live.len() {
            let at = self.subflows.live[index] as usize;
            let view = &self.planner.views()[at];
            let carried = head.carriers & self.subflows[at].bit() != 0;
            let calm = !view.in_recovery && !view.in_timeout_recovery;
            if at == fast || !carried || !calm || view.srtt <= Some(srtt) {
                continue;
            }
            self.subflows[at].tcp.penalize();
            self.subflows[at].upkeep.on_numbers();
            self.stats.penalizations += 1;
            penalized = true;
            let id = self.subflows[at].id;
            self.emit(Event::Penalized(id));
        }
        if penalized {
            self.subflows[fast].penalized_at = Some(now);
        }
    }
}
