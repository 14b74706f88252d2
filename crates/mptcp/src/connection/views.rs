//! The snapshots of subflows that decisions are made from. Each decision has brought up to date what it looks at.

use crate::id::SubflowId;
use crate::memory::Memory;
use crate::scheduler::{Needs, Scheduler};
use crate::send_queue::Slots;
use crate::subflow::{Phase, Subflow};
use crate::view::SubflowView;
use ropewalk_units::{Duration, Rate};
use std::ops::Deref;

/// One view per place.
#[derive(Clone, Debug, Default)]
pub(super) struct Views(Vec<SubflowView>);

/// What views are made from.
pub(super) struct Sources<'a> {
    /// Places of subflows whose TCP is not in CLOSED.
    pub(super) live: &'a [u32],
    pub(super) subflows: &'a mut [Subflow],
    pub(super) scheduler: &'a Scheduler,
    /// Timeouts in a row after which a subflow is not usable.
    pub(super) stale_loss_cnt: u32,
    pub(super) memory: &'a Memory,
}

impl Deref for Views {
    type Target = [SubflowView];

    fn deref(&self) -> &[SubflowView] {
        &self.0
    }
}

impl Views {
    /// Brings all views up to date.
    pub(super) fn refresh(&mut self, sources: &mut Sources<'_>) {
        for &at in sources.live {
            let at = at as usize;
            if sources.subflows[at].upkeep.needs_view() {
                self.refresh_one(at, sources);
            } else if self.0[at].coupled && !sources.scheduler.participates(self.0[at].id) {
                // Left out since: an idle path has nothing else that would renew its view.
                self.0[at].coupled = false;
            }
        }
    }

    /// … but only what coupled congestion control looks at.
    #[inline(always)]
    pub(super) fn refresh_windows(&mut self, sources: &mut Sources<'_>) {
        for &at in sources.live {
            let subflow = &mut sources.subflows[at as usize];
            let Some(view) = self.0.get_mut(at as usize) else { return self.refresh(sources) };
            // Schedulers know subflows by their places.
            let participates = sources.scheduler.participates(SubflowId(at));
            if subflow.upkeep.renews_window() {
                let tcp = &subflow.tcp;
                view.coupled = subflow.phase == Phase::Open && participates;
                view.cwnd = tcp.cwnd();
                view.ssthresh = tcp.ssthresh();
                view.flight = tcp.flight_size();
                view.smss = tcp.smss();
                view.srtt = tcp.srtt();
                view.in_recovery = tcp.in_recovery();
            } else if !participates {
                view.coupled = false;
            }
        }
    }

    /// … but only what tells whether a subflow has room and how fast it is.
    pub(super) fn refresh_rooms(&mut self, sources: &mut Sources<'_>) {
        for &at in sources.live {
            let subflow = &mut sources.subflows[at as usize];
            // A subflow that has no view yet has never been asked for one, and so needs it.
            let Some(view) = self.0.get_mut(at as usize) else { return self.refresh(sources) };
            if !subflow.upkeep.renews_room() {
                continue;
            }
            let tcp = &subflow.tcp;
            view.usable = is_usable(subflow, sources.stale_loss_cnt);
            view.backup = subflow.backup_own || subflow.backup_peer;
            let room = tcp.room();
            view.pipe = room.pipe;
            view.cwnd_space = room.cwnd_space;
            view.unsent = tcp.unsent();
            view.send_space = room.send_space;
            view.smss = tcp.smss();
            view.srtt = tcp.srtt();
            view.in_timeout_recovery = tcp.in_timeout_recovery();
        }
    }

    /// A whole view of one subflow.
    pub(super) fn refresh_one(&mut self, at: usize, sources: &mut Sources<'_>) {
        let mut view = view_of(&sources.subflows[at], sources.stale_loss_cnt);
        view.coupled &= sources.scheduler.participates(SubflowId(at as u32));
        if sources.scheduler.needs() == Needs::Rates {
            let subflow = &sources.subflows[at];
            view.memory_queued = sources.memory.queued(view.flight, view.unsent, view.smss);
            view.memory_limit = subflow.send_buffer;
            view.pacing_rate = subflow.tcp.pacing_rate();
            view.delivery_rate = sources.subflows[at].tcp.delivery_rate();
        }
        sources.subflows[at].upkeep.on_viewed();
        while self.0.len() <= at {
            self.0.push(view_of(&sources.subflows[self.0.len()], sources.stale_loss_cnt));
        }
        self.0[at] = view;
    }

    /// These are not usable; tells which of them were.
    pub(super) fn hide(&mut self, places: Slots) -> Slots {
        let mut hidden = 0;
        for (place, view) in self.0.iter_mut().enumerate() {
            if view.usable && places & (1 << place) != 0 {
                view.usable = false;
                hidden |= 1 << place;
            }
        }
        hidden
    }

    /// These are usable again.
    pub(super) fn show(&mut self, places: Slots) {
        for (place, view) in self.0.iter_mut().enumerate() {
            view.usable |= places & (1 << place) != 0;
        }
    }

    /// A subflow was given octets to carry.
    pub(super) fn on_given(&mut self, at: usize, octets: u32) {
        let view = &mut self.0[at];
        view.unsent += u64::from(octets);
        view.memory_queued += u64::from(octets);
        view.cwnd_space = view.cwnd_space.saturating_sub(octets);
        view.send_space = view.send_space.saturating_sub(u64::from(octets));
    }

    /// Redundant scheduling: so many octets are left for a subflow to carry.
    pub(super) fn set_own_backlog(&mut self, at: usize, octets: u64) {
        self.0[at].own_backlog = octets;
    }
}

/// May it carry new data? `stale_loss_cnt` are timeouts in a row after which it may not.
fn is_usable(subflow: &Subflow, stale_loss_cnt: u32) -> bool {
    let silent = subflow.silence.is_stale() || subflow.tcp.consecutive_timeouts() >= stale_loss_cnt;
    subflow.phase == Phase::Open && !silent
}

/// A view whose subflow takes part in the coupling if it is open, whatever the scheduler says.
#[inline]
fn view_of(subflow: &Subflow, stale_loss_cnt: u32) -> SubflowView {
    let tcp = &subflow.tcp;
    let stats = tcp.stats();
    SubflowView {
        id: SubflowId(u32::from(subflow.place)),
        path_index: subflow.path_index,
        backup: subflow.backup(),
        usable: is_usable(subflow, stale_loss_cnt),
        coupled: subflow.phase == Phase::Open,
        cwnd: tcp.cwnd(),
        ssthresh: tcp.ssthresh(),
        flight: tcp.flight_size(),
        pipe: tcp.pipe(),
        cwnd_space: tcp.cwnd_space(),
        unsent: tcp.unsent(),
        send_space: tcp.send_space(),
        memory_queued: 0,
        memory_limit: 0,
        own_backlog: 0,
        smss: tcp.smss(),
        srtt: tcp.srtt(),
        rttvar: tcp.rttvar().unwrap_or(Duration::ZERO),
        min_rtt: tcp.min_rtt(),
        latest_rtt: tcp.latest_rtt(),
        in_slow_start: tcp.in_slow_start(),
        in_recovery: tcp.in_recovery(),
        in_timeout_recovery: tcp.in_timeout_recovery(),
        pacing_rate: Rate::from_bits_per_sec(0),
        delivery_rate: None,
        bytes_acked: stats.bytes_acked,
        segments_sent: stats.data_segments_sent,
        retransmissions: stats.retransmissions,
        loss_events: stats.fast_recoveries + stats.timeouts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, GuardConfig, Scheduler as Choice};
    use crate::id::Path;
    use crate::subflow::New;
    use crate::view::QueueView;
    use crate::view::samples::{queue, subflow};
    use ropewalk_tcp as tcp;
    use ropewalk_units::{Instant, Seq};
    use std::net::SocketAddr;
    use std::sync::Arc;

    fn open(place: u8, id: u32) -> Subflow {
        let address = SocketAddr::from(([10, 0, place, 1], 5001));
        let new = New {
            id: SubflowId(id),
            path: Path { local: address, remote: address },
            path_index: 0,
            tcp: tcp::Connection::connect(Arc::new(tcp::Config::linux()), Seq::new(1), Instant::ZERO),
            place,
            active: true,
            join: None,
            local_id: 0,
            remote_id: 0,
            backup: false,
        };
        Subflow { phase: Phase::Open, ..Subflow::new(new) }
    }

    /// The second place has had another subflow before: identifiers go on, places do not.
    #[test]
    fn the_scheduler_is_asked_by_place_whether_a_subflow_takes_part_in_the_coupling() {
        let config = Config { scheduler: Choice::GoodputGuard(GuardConfig::default()), ..Config::linux() };
        let mut scheduler = Scheduler::new(&config);
        let rtt = Duration::from_millis(20);
        let known = SubflowView { segments_sent: 10_000, bytes_acked: 10_000_000, ..subflow(0, 20, rtt) };
        // A loss on such a path would block the first: it is left out until more is known.
        let long = subflow(1, 10, Duration::from_millis(200));
        scheduler.pick(Instant::ZERO, &[known, long], &QueueView { window_left: 10_000, ..queue() });
        assert_eq!([0, 1].map(|place| scheduler.participates(SubflowId(place))), [true, false]);
        let mut subflows = [open(0, 0), open(1, 2)];
        let mut views = Views::default();
        for _ in 0..2 {
            views.refresh_windows(&mut Sources {
                live: &[0, 1],
                subflows: &mut subflows,
                scheduler: &scheduler,
                stale_loss_cnt: 4,
                memory: &Memory::new(&config),
            });
            assert_eq!([views[0].coupled, views[1].coupled], [true, false]);
            subflows[1].upkeep.on_numbers();
        }
    }
}
