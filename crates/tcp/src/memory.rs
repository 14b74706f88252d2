//! What packets take of memory in Linux: more than their payload.

/// Octets of a packet's own record (Linux `sk_buff`, aligned).
const RECORD: u64 = 256;
/// A line of the cache, by which a small packet's head is longer if its length would be a power of two (Linux
/// `SKB_SMALL_HEAD_CACHE_SIZE`).
const LINE: u64 = 64;

/// The memory of one full segment of `mss` octets that was received, or that room is made for: the next power of two that holds it
/// and the `overhead`, and its record. With an overhead of 0 memory is payload.
pub fn of_segment(mss: u64, overhead: u64) -> u64 {
    if overhead == 0 { mss.max(1) } else { (mss + overhead).next_power_of_two() + RECORD }
}

/// The memory of a packet in a queue to be sent, beside its payload: its head and its record.
pub fn of_packet(overhead: u64) -> u64 {
    match overhead {
        0 => 0,
        head if head.is_power_of_two() => head + LINE + RECORD,
        head => head + RECORD,
    }
}

/// Least window that a send buffer is made for, in segments (Linux `TCP_INIT_CWND`).
const LEAST_WINDOW: u64 = 10;

/// The send buffer for so many windows of so many segments, each of which takes `segment` octets (Linux `tcp_sndbuf_expand`).
pub fn of_windows(windows: u64, segments: u64, segment: u64) -> u64 {
    windows * segments.max(LEAST_WINDOW) * segment
}

/// Octets of the timestamps option, padded (RFC 7323 appendix A).
pub const TIMESTAMPS: u64 = 12;
/// The largest window that a SYN can offer (RFC 7323 §2.2).
const LARGEST_OF_SYN: u64 = 65_535;
/// Memory of a receive buffer that is tuned, at first (Linux `tcp_rmem`).
const FIRST_RECEIVE: u64 = 131_072;

/// The octets of data that a receive buffer of so much memory holds in full segments of so many octets of data, in 256ths as Linux
/// reckons (`scaling_ratio`).
pub fn window_of(buffer: u64, payload: u64, segment: u64) -> u64 {
    buffer * (payload * 256 / segment) / 256
}

/// The window that a SYN of Linux offers, of a buffer that is tuned: whole segments of so many octets of data (Linux
/// `tcp_select_initial_window`).
pub fn first_offer(payload: u64) -> u64 {
    LARGEST_OF_SYN - LARGEST_OF_SYN % payload.max(1)
}

/// What a receive buffer that is tuned holds at first, in octets of data. When the first segment has told Linux how much memory a full
/// one takes, that is the window of the first buffer beside a segment.
pub fn first_receive_buffer(payload: u64, mss: u64, overhead: u64) -> u64 {
    if overhead == 0 {
        return LARGEST_OF_SYN;
    }
    let segment = of_segment(mss, overhead);
    window_of(FIRST_RECEIVE.saturating_sub(segment), payload, segment).max(LARGEST_OF_SYN)
}

/// Has an application that filled a send buffer of `limit` octets still to wait, as less than a third of it is free (Linux
/// `sk_stream_is_writeable`)?
pub fn keeps_waiting(limit: u64, held: u64) -> bool {
    limit.saturating_sub(held) < held / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_what_linux_says() {
        // `ss --memory` on Linux 6.18 without wireless: 2 304 octets with an MTU of 1 400 and of 1 500 octets.
        assert_eq!((of_segment(1360, 512), of_segment(1460, 512)), (2304, 2304));
        // With the larger headers of a kernel that has wireless and tunnels.
        assert_eq!((of_segment(1360, 640), of_segment(1460, 640)), (2304, 4352));
        assert_eq!((of_segment(1460, 0), of_segment(0, 0)), (1460, 1));
    }

    #[test]
    fn the_first_receive_buffer_is_what_linux_announces() {
        // Captures on Linux 6.18: 79 488 over Multipath TCP, 80 512 over TCP, rounded up by the window's scale.
        assert_eq!(first_receive_buffer(1424, 1460, 512), 79_474);
        assert_eq!(first_receive_buffer(1448, 1460, 512), 80_480);
        assert_eq!(first_receive_buffer(1448, 1460, 0), 65_535, "payload is counted");
        assert_eq!((first_offer(1448), first_offer(1460)), (65_160, 64_240), "SYN and ACK, and SYN");
    }

    #[test]
    fn a_packet_takes_what_linux_says() {
        // `ss --memory` on the same kernel: 62 696 octets for five segments of 1 448 in three packets, and 52 128 that wait in one.
        assert_eq!(5 * 1448 + 52_128 + 4 * of_packet(512), 62_696);
        assert_eq!((of_packet(640), of_packet(0)), (896, 0));
    }
}
