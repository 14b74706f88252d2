//! The connection-level receive window (RFC 8684 §3.3.5): one buffer behind all subflows.

use super::{Connection, Mode};
use crate::config::Config;
use crate::memory::Memory;
use crate::subflow::Phase;
use ropewalk_tcp as tcp;
use ropewalk_units::Instant;

/// What Linux takes to be read in the first round-trip time: TCP_INIT_CWND.
const INITIAL_SEGMENTS: u64 = 10;

/// The right edge, and the buffer that it comes from.
#[derive(Clone, Debug)]
pub(super) struct ReceiveWindow {
    /// The first octet that the peer may not send.
    edge: u64,
    /// Octets the buffer holds now, and at most.
    limit: u64,
    max: u64,
    /// What a SYN offers at most.
    of_syn: u64,
    /// What waits behind a hole is taken from what is offered.
    charges_waiting: bool,
    autotuned: bool,
    /// What subflows follow of it.
    followed: u64,
    /// The most octets that were read in one round-trip time.
    space: u64,
    copied: u64,
    since: Instant,
    /// No round-trip time is over before.
    not_before: Instant,
}

impl ReceiveWindow {
    /// What `config` says of the connection's buffer.
    pub(super) fn new(config: &Config) -> Self {
        let (memory, autotuned) = (Memory::new(config), config.tcp.receive_autotuning);
        let max = memory.window_of(u64::from(config.receive_buffer));
        let limit = if autotuned { max.min(memory.first_window()) } else { max };
        Self {
            edge: 0,
            limit,
            max,
            of_syn: if autotuned { memory.first_offer() } else { 65_535 },
            charges_waiting: memory.charges_waiting(),
            autotuned,
            followed: limit,
            space: INITIAL_SEGMENTS * u64::from(config.tcp.mss),
            copied: 0,
            since: Instant::ZERO,
            not_before: Instant::ZERO,
        }
    }

    /// The first octet beyond the window.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// What a SYN offers (RFC 7323 §2.2: not scaled).
    pub(super) fn on_syn(&mut self) -> u16 {
        let window = self.limit.min(self.of_syn);
        self.edge = self.edge.max(window);
        window as u16
    }

    /// Where the window begins as it is offered, with `waiting` octets behind a hole: memory that is taken.
    pub(super) fn base(&self, read: u64, waiting: u64) -> u64 {
        if self.charges_waiting { read.saturating_sub(waiting) } else { read }
    }

    /// What subflows follow if the buffer is tuned: the octets that it holds now, less what it has grown by for data behind holes.
    pub(super) fn followed(&self) -> Option<u32> {
        self.autotuned.then(|| u32::try_from(self.followed).unwrap_or(u32::MAX))
    }

    /// Where the edge would be if `wanted` is where it may be. RFC 9293 §3.8.6.2.2: it moves by a segment or half the buffer at least; it
    /// never moves back.
    fn grown(&self, wanted: u64, segment: u64) -> u64 {
        let least = segment.min(self.limit / 2).max(1);
        if wanted >= self.edge + least { wanted } else { self.edge }
    }

    /// The window field of a segment that is not a SYN, relative to `next`, with a buffer that begins at `base`, on a subflow that offers
    /// `offered` octets of it if it is tuned (Linux `__tcp_select_window`: no more than that, nor than is free). Rounded down by the
    /// shift: octets up to the exact edge stay acceptable (RFC 7323 §2.4).
    pub(super) fn field(&mut self, (base, next): (u64, u64), offered: u32, scale: u8, segment: u64) -> u16 {
        let offered = if self.autotuned { next + u64::from(offered) } else { u64::MAX };
        let wanted = offered.min(base + self.limit);
        let edge = self.grown(wanted, segment).min(next + (65_535 << scale));
        self.edge = self.edge.max(edge);
        ((self.edge.saturating_sub(next)) >> scale).min(65_535) as u16
    }

    /// Has reading made so much room that the peer should hear of it at once? As Linux decides: the window can
    /// at least double, and is at most half of the buffer.
    pub(super) fn wants_update(&self, base: u64, next: u64, segment: u64) -> bool {
        let window = self.edge.saturating_sub(next);
        window <= self.limit / 2 && {
            let growth = self.grown(base + self.limit, segment) - self.edge;
            growth > 0 && growth >= window
        }
    }

    /// The same for one subflow, whose own window has `told` octets left as it announced it last (Linux: `tcp_cleanup_rbuf` of each
    /// subflow). One that told of a large window does not repeat itself.
    pub(super) fn wants_update_on(&self, read: u64, next: u64, told: u32) -> bool {
        let (now, told) = ((read + self.limit).saturating_sub(next), u64::from(told));
        told <= self.limit / 2 && now >= 2 * told
    }

    /// The application read.
    pub(super) fn read(&mut self, octets: u64) {
        self.copied += octets;
    }

    /// Once per round-trip time the buffer becomes twice what was read in it, and more while that grows ("dynamic
    /// right-sizing", Fisk & Feng 2001). As in Linux (`mptcp_rcvbuf_grow`), the connection uses the largest round-trip time of its
    /// subflows, and what is behind a hole, `beyond` octets up to its end, comes beside.
    fn tune(&mut self, now: Instant, beyond: u64) {
        let copied = std::mem::take(&mut self.copied);
        self.since = now;
        if copied <= self.space {
            return;
        }
        let before = std::mem::replace(&mut self.space, copied);
        let window = 2 * copied;
        let grown = window.saturating_mul(copied - before).checked_div(before).unwrap_or(0);
        let wanted = window.saturating_add(2 * grown);
        self.followed = self.followed.max(wanted.min(self.max));
        self.grow(wanted.saturating_add(beyond));
    }

    /// Data came behind a hole, the end of it `beyond` octets from where the stream goes on.
    fn make_room_beyond(&mut self, beyond: u64) {
        self.grow(2 * self.space + beyond);
    }

    fn grow(&mut self, wanted: u64) {
        self.limit = self.limit.max(wanted.min(self.max));
    }
}

impl Connection {
    /// After a read: tells the peer if the window opened, on each subflow that told of a small one.
    pub(super) fn offer_window_update(&mut self) {
        let segment = u64::from(self.config.tcp.mss);
        if self.receiving.wants_window_update(segment) {
            self.update_window();
        }
    }

    /// The application has read everything, and nothing waits behind a hole: what a subflow keeps back until then is
    /// acknowledged (Linux `mptcp_cleanup_rbuf`).
    pub(super) fn on_all_read(&mut self) {
        let due = &mut self.planner.due;
        self.subflows.for_each_live(|subflow| {
            if subflow.tcp.on_all_read() {
                subflow.upkeep.on_request();
                due.request_poll();
            }
        });
    }

    #[cold]
    fn update_window(&mut self) {
        self.planner.due.request_poll();
        let receiving = &self.receiving;
        self.subflows.for_each_live(|subflow| {
            let carries = matches!(subflow.phase, Phase::Open | Phase::Closing);
            if carries && receiving.wants_window_update_on(subflow.told_window()) {
                subflow.request_ack();
            }
        });
    }

    /// Data arrived: perhaps a round-trip time is over.
    pub(super) fn tune_window(&mut self, now: Instant) {
        if !self.receiving.window.autotuned || self.receiving.window.limit >= self.receiving.window.max {
            return;
        }
        let beyond = self.receiving.reassembly.end() - self.receiving.reassembly.next();
        if beyond > 0 {
            self.receiving.window.make_room_beyond(beyond);
        }
        if now < self.receiving.window.not_before {
            return;
        }
        // Without timestamps the receiver can only bound the round-trip time by whole windows, and these are huge.
        let echoed = self.config.tcp.timestamps;
        let rtt_of = |tcp: &tcp::Connection| tcp.receiver_rtt().filter(|_| echoed).or(tcp.srtt());
        let rtts = self.subflows.live().filter_map(|subflow| rtt_of(&subflow.tcp));
        let Some(rtt) = rtts.max() else { return };
        if now.saturating_since(self.receiving.window.since) >= rtt {
            self.receiving.window.tune(now, beyond);
            self.follow_window();
        }
        self.receiving.window.not_before = self.receiving.window.since + rtt;
    }

    /// The buffer has grown, or a subflow is new: what subflows offer follows.
    pub(super) fn follow_window(&mut self) {
        if let Some(octets) = self.receiving.window.followed() {
            self.subflows.for_each_live(|subflow| subflow.tcp.follow_buffer(octets));
        }
    }

    /// The peer's window, `octets` beyond `acknowledged`. The right edge never moves back.
    pub(super) fn open_send_window(&mut self, acknowledged: u64, octets: u64) {
        if self.sending.open_window(acknowledged, octets) {
            self.planner.due.request_schedule();
        }
    }

    /// The peer's window, relative to the subflow's acknowledgement, as plain TCP has it.
    pub(super) fn is_plain(&self) -> bool {
        self.mode == Mode::Tcp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(receive_buffer: u32) -> ReceiveWindow {
        counted(receive_buffer, 0)
    }

    fn counted(receive_buffer: u32, memory_overhead: u32) -> ReceiveWindow {
        let mut config = Config { receive_buffer, memory_overhead, ..Config::linux() };
        config.tcp.receive_autotuning = false;
        ReceiveWindow::new(&config)
    }

    fn autotuned(receive_buffer: u32) -> ReceiveWindow {
        let mut config = Config { receive_buffer, ..Config::linux() };
        config.tcp.receive_autotuning = true;
        ReceiveWindow::new(&config)
    }

    #[test]
    fn the_edge_moves_by_a_segment_at_least() {
        let mut window = fixed(10_000);
        assert_eq!(window.field((0, 0), u32::MAX, 0, 1000), 10_000);
        assert_eq!(window.field((999, 999), u32::MAX, 0, 1000), 9001, "not for less");
        assert_eq!(window.field((1000, 1000), u32::MAX, 0, 1000), 10_000);
    }

    #[test]
    fn a_buffer_in_memory_offers_what_it_holds_less_what_waits() {
        let mut window = counted(65_536, 512);
        let held = 65_536 * 158 / 256;
        assert_eq!(u64::from(window.field((window.base(0, 0), 0), u32::MAX, 0, 1460)), held);
        // 20 000 octets wait behind a hole: only when as much was read does the edge move on.
        assert_eq!(
            u64::from(window.field((window.base(20_000, 20_000), 20_000), u32::MAX, 0, 1460)),
            held - 20_000
        );
        assert_eq!(
            u64::from(window.field((window.base(24_000, 20_000), 24_000), u32::MAX, 0, 1460)),
            held - 20_000
        );
        assert_eq!(
            window.field((fixed(65_536).base(24_000, 20_000), 24_000), u32::MAX, 0, 1460) as u64,
            held
        );
    }

    /// As Linux decides it.
    #[test]
    fn reading_is_told_at_once_if_the_window_doubles_by_it_and_was_half_of_the_buffer_at_most() {
        let mut window = fixed(10_000);
        assert_eq!(window.field((0, 0), u32::MAX, 0, 1000), 10_000);
        let tells = |read, next| window.wants_update(read, next, 1000);
        assert!(!tells(0, 6000), "nothing was read");
        assert!(!tells(3000, 6000), "4000 grow by 3000");
        assert!(tells(5000, 6000), "4000 grow by 5000");
        assert!(tells(9000, 9000), "1000 grow by 9000");
        assert!(!tells(500, 10_000), "a closed window stays closed for less than a segment");
        assert!(tells(1000, 10_000), "a closed window opens");
    }

    #[test]
    fn the_buffer_becomes_twice_what_was_read_in_a_round_trip_and_more_while_that_grows() {
        let mut window = autotuned(6 << 20);
        let mut offered = |octets: u64| {
            window.read(octets);
            window.tune(Instant::ZERO, 0);
            u64::from(window.field((0, 0), u32::MAX, 4, 1000)) << 4
        };
        let first = 14_600;
        let grown = 100_000 * (50_000 - first) / first;
        assert_eq!(offered(50_000), (100_000 + 2 * grown) >> 4 << 4, "after ten segments");
        assert_eq!(offered(50_000), (100_000 + 2 * grown) >> 4 << 4);
        // It has doubled: twice as much again.
        assert_eq!(offered(100_000), 600_000);
    }

    /// Linux `__tcp_select_window`: what waits takes from the buffer, and not from what a subflow offers of it.
    #[test]
    fn a_subflow_offers_no_more_than_it_may_nor_than_is_free() {
        let mut window = autotuned(6 << 20);
        let limit = window.limit;
        assert_eq!((limit, window.on_syn()), (79_474, 65_160));
        let field = |window: &mut ReceiveWindow, waiting, offered| {
            u64::from(window.field((window.base(100_000, waiting), 100_000), offered, 0, 1000))
        };
        assert_eq!(field(&mut window.clone(), 0, 60_000), 60_000, "what it offers");
        assert_eq!(field(&mut window.clone(), 19_000, 60_000), 60_000, "there is room beside what waits");
        assert_eq!(field(&mut window, 30_000, 60_000), limit - 30_000, "and now less");
    }

    /// Linux `mptcp_rcvbuf_grow`, when data comes behind a hole. Subflows do not follow.
    #[test]
    fn there_is_room_beyond_what_lies_behind_a_hole() {
        let mut window = autotuned(1 << 20);
        let (limit, followed) = (window.limit, window.followed());
        window.make_room_beyond(10_000);
        assert_eq!(window.limit, limit, "twice ten segments, and 10 000 octets, are less");
        window.make_room_beyond(100_000);
        assert_eq!((window.limit, window.followed()), (2 * 14_600 + 100_000, followed));
        window.make_room_beyond(u64::from(u32::MAX));
        assert_eq!(window.limit, window.max);
    }
}
