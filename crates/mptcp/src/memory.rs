//! Buffers in memory, as Linux counts them: a packet takes more than its payload.
//!
//! What a packet takes says [`ropewalk_tcp::memory`]. With a [`Config::memory_overhead`] of 0 memory is payload.

use crate::config::{Config, OPTION_RESERVE};
use crate::coupling;
use ropewalk_tcp::memory::{self, TIMESTAMPS, keeps_waiting, of_packet, of_segment, of_windows};

/// Segments in one packet of the send queue: a delayed ACK lets out two at once.
const SEGMENTS_PER_PACKET: u64 = 2;
/// What a send buffer begins with, and the least of any (Linux `tcp_wmem`).
const FIRST_SEND: u64 = 16_384;
const LEAST_SEND: u64 = 4_096;

/// Octets of the stream that are kept together (Linux: pages of 32 kB, less a record of 40 octets).
const PIECE: u64 = 32 * 1024 - 40;

/// The end of the piece that an octet of the stream is in.
pub(crate) const fn piece_end(data: u64) -> u64 {
    (data / PIECE + 1) * PIECE
}

/// How buffers of one connection are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    overhead: u64,
    mss: u64,
    /// Octets of data in a full segment.
    payload: u64,
    /// Least window counted, and memory of a segment: what a send buffer grows by.
    segment: u64,
    windows: u64,
    autotuned: bool,
    most: u64,
}

impl Memory {
    /// What `config` says.
    pub(crate) fn new(config: &Config) -> Self {
        let overhead = u64::from(config.memory_overhead);
        Self {
            overhead,
            mss: u64::from(config.tcp.mss),
            payload: payload(config),
            segment: of_segment(u64::from(config.tcp.mss), overhead),
            windows: coupling::control_of(config.coupling).send_windows(),
            autotuned: config.send_autotuning,
            most: u64::from(config.send_buffer),
        }
    }

    /// A receive buffer's window: the octets of data that `buffer` holds in full segments.
    pub(crate) fn window_of(&self, buffer: u64) -> u64 {
        if self.overhead == 0 { buffer } else { memory::window_of(buffer, self.payload, self.segment) }
    }

    /// What a SYN offers of a receive buffer that is tuned.
    pub(crate) fn first_offer(&self) -> u64 {
        memory::first_offer(self.payload + u64::from(OPTION_RESERVE))
    }

    /// The window of a receive buffer that is tuned, at first.
    pub(crate) fn first_window(&self) -> u64 {
        memory::first_receive_buffer(self.payload, self.mss, self.overhead)
    }

    /// Does what waits behind a hole take from the window?
    pub(crate) fn charges_waiting(&self) -> bool {
        self.overhead > 0
    }

    /// The send buffer of a subflow with this window.
    pub(crate) fn of_subflow(&self, cwnd: u32, smss: u32) -> u64 {
        if !self.autotuned {
            return self.most;
        }
        let segments = u64::from(cwnd.checked_div(smss).unwrap_or(0));
        of_windows(self.windows, segments, self.segment).max(FIRST_SEND).min(self.most)
    }

    /// Is it the largest send buffer that any subflow's window makes?
    pub(crate) fn is_most(&self, buffer: u64) -> bool {
        buffer == self.most
    }

    /// The connection's send buffer before any subflow is established.
    pub(crate) fn first(&self) -> u64 {
        if self.autotuned { FIRST_SEND.min(self.most) } else { self.most }
    }

    /// The connection's send buffer over subflows whose buffers sum up to `sum` (Linux `__mptcp_sync_sndbuf`).
    pub(crate) fn over(&self, sum: u64) -> u64 {
        if sum == 0 || !self.autotuned { self.first() } else { LEAST_SEND + sum }
    }

    /// What a subflow's send queue takes: packets on their way of two segments each, and the rest in large ones.
    pub(crate) fn queued(&self, flight: u32, unsent: u64, smss: u32) -> u64 {
        let packets = u64::from(flight).div_ceil(SEGMENTS_PER_PACKET * u64::from(smss).max(1));
        u64::from(flight) + unsent + packets * of_packet(self.overhead)
    }
}

/// Octets of data in a full segment, behind the options that all of them carry.
fn payload(config: &Config) -> u64 {
    let timestamps = if config.tcp.timestamps { TIMESTAMPS } else { 0 };
    u64::from(config.tcp.mss).saturating_sub(u64::from(OPTION_RESERVE) + timestamps)
}

/// A connection's send buffer.
#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    limit: u64,
    unit: Unit,
    state: Filling,
}

/// What an application writes at least while there is any room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Octets,
    /// Pieces of the stream, as Linux copies them.
    Pieces,
}

/// Whether the application waits for room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Filling {
    /// It may write.
    Open,
    /// It has filled the buffer, and hears of room when a third of it is free (Linux `sk_stream_is_writeable`).
    Full,
}

impl SendBuffer {
    /// Of so many octets.
    pub(crate) fn new(memory: &Memory) -> Self {
        let unit = if memory.autotuned { Unit::Pieces } else { Unit::Octets };
        Self::of(memory.first(), unit)
    }

    const fn of(limit: u64, unit: Unit) -> Self {
        Self { limit, unit, state: Filling::Open }
    }

    /// Octets that may be written when `written` were in all and `held` of them are taken: up to the end of the piece in which
    /// the buffer becomes full, if pieces are written.
    pub(crate) fn space(&self, held: u64, written: u64) -> u64 {
        let free = self.limit.saturating_sub(held);
        if free == 0 || (self.state == Filling::Full && keeps_waiting(self.limit, held)) {
            return 0;
        }
        match self.unit {
            Unit::Octets => free,
            Unit::Pieces => piece_end(written + free - 1) - written,
        }
    }

    /// The application has written, so that `held` octets are taken.
    pub(crate) fn on_written(&mut self, held: u64) {
        self.state = if held >= self.limit { Filling::Full } else { Filling::Open };
    }

    /// Does the application wait for room?
    pub(crate) fn is_full(&self) -> bool {
        self.state == Filling::Full
    }

    /// It holds so many octets from now on.
    pub(crate) fn resize(&mut self, limit: u64) {
        self.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(&Config::linux())
    }

    #[test]
    fn a_new_subflow_has_memory_for_two_initial_windows() {
        assert_eq!(memory().of_subflow(14_600, 1460), 2 * 10 * 2304);
        assert_eq!(memory().of_subflow(146_000, 1460), 2 * 100 * 2304);
        assert_eq!(memory().of_subflow(u32::MAX, 1460), 4 << 20, "no more than the file allows");
        assert_eq!(memory().over(46_080), 50_176);
    }

    #[test]
    fn a_window_is_payload_and_a_buffer_memory() {
        // The windows that Linux 6.18 has offered with buffers of 64 and 256 kB: 158/256, as there are 1 424 octets in 2 304.
        assert_eq!((memory().window_of(64_000), memory().window_of(256_000)), (39_500, 158_000));
        let payload = Memory::new(&Config { memory_overhead: 0, ..Config::linux() });
        assert_eq!(payload.window_of(65_536), 65_536);
    }

    #[test]
    fn a_queue_takes_a_record_for_each_packet() {
        assert_eq!(memory().queued(2 * 1448, 10_000, 1448), 2 * 1448 + 10_000 + 832);
        assert_eq!(memory().queued(0, 10_000, 1448), 10_000);
    }

    #[test]
    fn an_application_that_filled_the_buffer_hears_of_room_when_a_third_is_free() {
        let mut buffer = SendBuffer::of(30_000, Unit::Octets);
        buffer.on_written(29_000);
        assert_eq!((buffer.space(29_000, 29_000), buffer.is_full()), (1000, false));
        buffer.on_written(30_000);
        assert_eq!(buffer.space(20_001, 30_000), 0);
        assert_eq!(buffer.space(20_000, 30_000), 10_000);
        buffer.resize(60_000);
        assert_eq!(buffer.space(30_000, 30_000), 30_000);
    }

    #[test]
    fn the_last_piece_is_written_as_a_whole() {
        let mut buffer = SendBuffer::of(40_000, Unit::Pieces);
        assert_eq!(buffer.space(0, 0), 2 * 32_728);
        assert_eq!(buffer.space(39_999, 39_999), 2 * 32_728 - 39_999);
        assert_eq!(SendBuffer::of(32_728, Unit::Pieces).space(0, 0), 32_728, "it ends where the buffer does");
        buffer.on_written(2 * 32_728);
        assert_eq!(buffer.space(2 * 32_728, 2 * 32_728), 0);
    }

    #[test]
    fn a_send_buffer_of_fixed_size_does_not_depend_on_the_subflows() {
        let fixed = Memory::new(&Config { send_autotuning: false, send_buffer: 100_000, ..Config::linux() });
        assert_eq!((fixed.over(0), fixed.over(100_000), fixed.over(200_000)), (100_000, 100_000, 100_000));
        assert_eq!(memory().over(0), 16_384, "what one begins with, if there is no subflow");
    }
}
