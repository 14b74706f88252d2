//! Which subflow carries what: reinjections first, then what the scheduler says.

use super::{Connection, Reinjection};
use crate::event::Event;
use crate::scheduler::{Decision, Standing};
use crate::send_queue::{Placement, Sent};
use crate::subflow::Phase;
use crate::view::{QueueView, SubflowView};
use ropewalk_units::Instant;
use ropewalk_wire::Payload;

impl Connection {
    /// Gives data to subflows as long as there is data, window and room; to be called when that is due.
    pub(super) fn schedule(&mut self, now: Instant) {
        self.planner.due.on_scheduled();
        if !self.may_carry_data() {
            return;
        }
        let waiting = self.sending.queue.unscheduled() > 0 || self.sending.queue.has_reinjections();
        let outstanding = self.sending.queue.una() < self.sending.queue.next();
        if waiting || (outstanding && self.planner.own_pointers()) {
            self.planner.renew_for_scheduler(&mut self.subflows);
            if self.planner.reinjects_in_turn() {
                if self.reinject_in_turn(now) {
                    self.schedule_new(now);
                }
            } else {
                self.reinject();
                self.schedule_new(now);
            }
            self.relieve_window(now);
        }
        if self.subflows.sum_stale || self.sending.buffer.is_full() {
            self.tend_send_buffer();
        }
        if waiting || outstanding {
            self.arm_data_timer(now);
        }
        if self.sending.owes_data_fin() {
            let at = self.plain as usize;
            self.progress_close(now, at);
        }
    }

    fn schedule_new(&mut self, now: Instant) {
        if self.schedule_runs() {
            return;
        }
        let least = if self.config.tcp.nagle { self.planner.least_segment() } else { 0 };
        let own_pointers = self.planner.own_pointers();
        loop {
            if own_pointers {
                self.planner.renew_backlogs(&mut self.subflows, &self.sending);
            }
            let queue = self.sending.view(least, self.stats.opportunistic_retransmissions);
            match self.planner.pick(now, &queue) {
                Decision::Send { subflow, octets, reason } if own_pointers => {
                    self.place_own(subflow.0 as usize, octets, reason);
                }
                Decision::Send { subflow, octets, reason } => {
                    self.place_new(subflow.0 as usize, octets, reason);
                }
                Decision::Copy { subflow, octets, reason } => {
                    // With nothing to copy there is still the next decision: a scheduler counts its copies.
                    self.place_copy(subflow.0 as usize, octets, reason);
                }
                Decision::Wait { .. } => return,
            }
        }
    }

    /// As long as data and window are ample: a choice that stands is followed until the chosen subflow's room is used
    /// up. Returns whether no subflow has room any more.
    fn schedule_runs(&mut self) -> bool {
        while self.is_ample(0) {
            let Some(standing) = self.planner.standing() else { return false };
            let Standing::Subflow { id, others, reason } = standing else { return true };
            let at = id.0 as usize;
            loop {
                let view = &self.planner.views()[at];
                let octets = u64::from(view.smss).min(view.send_space);
                // Nearly always an ACK makes room for two segments: both in one piece, where that is the same.
                let both = 2 * octets;
                let room = u64::from(view.cwnd_space) >= both && view.send_space > both;
                let two = room && self.is_ample(octets) && self.places_two_as_one(at, octets);
                self.place_new(at, if two { both } else { octets }, reason);
                if !self.planner.views()[at].has_room(u64::MAX) {
                    break;
                }
                if !self.is_ample(0) {
                    return false;
                }
            }
            if !others {
                return true;
            }
        }
        false
    }

    /// Is the send queue the same after both, and is no event emitted for each?
    fn places_two_as_one(&self, at: usize, octets: u64) -> bool {
        let subflow = &self.subflows[at];
        !self.config.trace
            && self.sending.queue.takes_two_as_one(u32::from(subflow.place), subflow.place, octets as u32)
    }

    /// Neither what is left to send nor the window ends within a segment, `beyond` octets from here: none is longer than
    /// an IP packet.
    fn is_ample(&self, beyond: u64) -> bool {
        self.sending.limit().saturating_sub(self.sending.queue.next()) >= beyond + u64::from(u16::MAX)
    }

    /// The next octets of the stream go to a subflow.
    #[inline(always)]
    pub(super) fn place_new(&mut self, at: usize, octets: u64, reason: &'static str) {
        let data = self.sending.queue.next();
        let len = octets.min(self.sending.queue.unscheduled()) as u32;
        let to = self.hand_over(at, data, len);
        self.sending.queue.send_new(len, to);
        if at != self.plain as usize {
            self.sending.split = true;
        }
        if self.config.trace {
            let id = self.subflows[at].id;
            self.emit(Event::Scheduled { id, data, octets: len, reason });
        }
    }

    /// Pushes a range into a subflow and brings its view up to date.
    fn hand_over(&mut self, at: usize, data: u64, len: u32) -> Placement {
        let subflow = &mut self.subflows[at];
        subflow.tcp.push(Payload { offset: data, len });
        subflow.pushed += u64::from(len);
        subflow.upkeep.on_request();
        self.planner.on_given(at, len);
        Placement { subflow: u32::from(subflow.place), slot: subflow.place, position_end: subflow.pushed }
    }

    /// Redundant scheduling: the next octets from the subflow's own pointer.
    fn place_own(&mut self, at: usize, octets: u64, reason: &'static str) {
        let bit = self.subflows[at].bit();
        let pointer = self.subflows[at].pointer;
        let next = self.sending.queue.next();
        if pointer >= next {
            self.place_new(at, octets, reason);
            self.subflows[at].pointer = self.sending.queue.next();
            return;
        }
        let Some(&sent) = self.sending.queue.holding(pointer) else {
            self.subflows[at].pointer = next;
            return;
        };
        if sent.carriers & bit != 0 {
            self.subflows[at].pointer = sent.end();
            return;
        }
        let len = (sent.end() - pointer).min(octets) as u32;
        let to = self.hand_over(at, pointer, len);
        self.sending.queue.send_again(pointer, len, to);
        self.subflows[at].pointer = pointer + u64::from(len);
        self.sending.split = true;
        if self.config.trace {
            let id = self.subflows[at].id;
            self.emit(Event::Scheduled { id, data: pointer, octets: len, reason });
        }
    }

    /// A second copy of the latest octets that the subflow has not carried, if there are any.
    fn place_copy(&mut self, at: usize, octets: u64, reason: &'static str) {
        let bit = self.subflows[at].bit();
        let Some(&sent) = self.sending.queue.latest_without(bit) else { return };
        let len = u64::from(sent.len).min(octets) as u32;
        let start = sent.end() - u64::from(len);
        let to = self.hand_over(at, start, len);
        self.sending.queue.send_again(start, len, to);
        self.sending.split = true;
        self.subflows[at].reinjected += u64::from(len);
        self.stats.reinjected_bytes += u64::from(len);
        if self.config.trace {
            let id = self.subflows[at].id;
            self.emit(Event::Scheduled { id, data: start, octets: len, reason });
        }
    }

    /// Gives what timed-out and dead subflows carried to others (RFC 8684 §3.3.6).
    fn reinject(&mut self) {
        while let Some(sent) = self.sending.queue.reinjection() {
            if let Some(at) = self.best_for(&sent) {
                let view = &self.planner.views()[at];
                let room = view.cwnd_space.max(1).min(view.smss);
                self.place_again(at, &sent, room, Reinjection::Repair);
            } else if self.may_be_placed(&sent) {
                return;
            } else {
                self.sending.queue.skip_reinjection();
            }
        }
    }

    /// To the subflow that the scheduler names, before everything new. Is nothing left to be reinjected?
    fn reinject_in_turn(&mut self, now: Instant) -> bool {
        while let Some(sent) = self.sending.queue.reinjection() {
            if !self.may_be_placed(&sent) {
                self.sending.queue.skip_reinjection();
                continue;
            }
            let queue = QueueView {
                unsent: u64::from(sent.len),
                window_left: u64::MAX,
                data_acked: sent.start,
                ..QueueView::default()
            };
            let decision = self.planner.pick_without(now, &queue, sent.excluded());
            let Decision::Send { subflow, octets, .. } = decision else { return false };
            self.place_again(subflow.0 as usize, &sent, octets as u32, Reinjection::Repair);
        }
        true
    }

    /// Subflows whose windows have grown add to the send buffer, if that holds the application back.
    pub(super) fn tend_send_buffer(&mut self) {
        if self.subflows.sum_stale || !self.subflows.all_add_most {
            self.grow_send_buffers();
        }
    }

    #[inline(never)]
    fn grow_send_buffers(&mut self) {
        let full = self.sending.buffer.is_full();
        let mut changed = self.subflows.sum_stale;
        for index in 0..self.subflows.live.len() {
            let at = self.subflows.live[index] as usize;
            changed |= self.grow_send_buffer(at, full);
        }
        if changed {
            self.subflows.sum_stale = false;
            let adds_most = |at: usize| self.memory.is_most(self.subflows[at].send_buffer);
            let all_add_most = self.subflows.carriers().all(adds_most);
            self.subflows.all_add_most = all_add_most;
            let sum =
                self.subflows.live().filter(|subflow| !subflow.is_closed()).map(|s| s.send_buffer).sum();
            self.sending.buffer.resize(self.memory.over(sum));
        }
    }

    /// While the application waits it follows the window, if that is not used up (Linux `tcp_should_expand_sndbuf`). Has it
    /// grown?
    fn grow_send_buffer(&mut self, at: usize, full: bool) -> bool {
        let subflow = &mut self.subflows[at];
        let fresh = subflow.send_buffer == 0;
        let may_grow = fresh || (full && !self.memory.is_most(subflow.send_buffer));
        if !may_grow || !matches!(subflow.phase, Phase::Open | Phase::Closing) {
            return false;
        }
        let wanted = self.memory.of_subflow(subflow.tcp.cwnd(), subflow.tcp.smss());
        let grows = wanted > subflow.send_buffer && (fresh || subflow.tcp.leaves_room());
        if grows {
            subflow.send_buffer = wanted;
            subflow.upkeep.on_numbers();
        }
        grows
    }

    /// The fastest usable subflow with room that may be given the range; backups if there is no other.
    fn best_for(&self, sent: &Sent) -> Option<usize> {
        let ready = self.takers(sent).filter(|(_, view)| view.has_room(u64::from(sent.len)));
        ready.min_by_key(|(_, view)| (view.backup, view.srtt)).map(|(at, _)| at)
    }

    /// Is there a subflow beside those that must not be given it? If there are none of these, it waits for any.
    fn may_be_placed(&self, sent: &Sent) -> bool {
        sent.excluded() == 0 || self.takers(sent).next().is_some()
    }

    /// Usable subflows that a queued range may be given to, whether they have room or not.
    fn takers(&self, sent: &Sent) -> impl Iterator<Item = (usize, &SubflowView)> {
        let excluded = sent.excluded();
        let usable = self.subflows.live.iter().map(|&at| (at as usize, &self.planner.views()[at as usize]));
        usable.filter(move |(at, view)| view.usable && self.subflows[*at].bit() & excluded == 0)
    }

    /// Gives the first `room` octets of a range that others carried to a subflow.
    pub(super) fn place_again(&mut self, at: usize, sent: &Sent, room: u32, why: Reinjection) {
        let len = sent.len.min(room);
        let to = self.hand_over(at, sent.start, len);
        self.sending.queue.send_again(sent.start, len, to);
        self.sending.split = true;
        self.subflows[at].reinjected += u64::from(len);
        self.stats.reinjected_bytes += u64::from(len);
        let id = self.subflows[at].id;
        let opportunistic = why == Reinjection::Opportunistic;
        self.emit(Event::Reinjected { id, data: sent.start, octets: len, opportunistic });
    }
}
