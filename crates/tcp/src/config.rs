//! Every constant that a paper or a real stack chooses, with two presets.

use crate::quirks::Quirks;
use ropewalk_congestion::{CongestionControl, HyStart};
use ropewalk_units::{Duration, Seq};

/// Hands the constants of delayed acknowledgements to the macro `$declare`, as `tcp_constants!` does.
#[macro_export]
macro_rules! delayed_ack_constants {
    ($declare:path) => {
        $declare! {
            /// When a receiver acknowledges (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
            #[derive(Clone, Copy, PartialEq, Eq, Debug)]
            pub struct DelayedAck {
                presets {
                    /// As Linux.
                    linux,
                    /// As the papers' simulators.
                    classic,
                }
                keys {
                    /// An ACK at the latest after so many full-sized segments; 1 acknowledges every segment.
                    segments: u32 [segments] = 2, 2;
                    /// … or after this time.
                    timeout: Duration = Duration::from_millis(40), Duration::from_millis(200);
                    /// The first so many segments of a connection are acknowledged at once, as Linux does while the sender is
                    /// in slow start ("quick ACKs"); 0 switches it off.
                    quick_acks: u32 [segments] = 16, 0;
                    /// The end of a write (a segment with PSH, or one shorter than those before) is acknowledged as soon as the
                    /// application has read everything, as Linux does. Not at an end that answers requests within `timeout`:
                    /// there an answer carries the ACK.
                    after_reading: bool = true, false;
                }
                inner {}
            }
        }
    };
}

delayed_ack_constants!(ropewalk_units::configuration);

/// How lost segments are found and repaired before a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossRecovery {
    /// RFC 6582: duplicate ACKs and partial ACKs, no SACK needed.
    NewReno,
    /// RFC 6675: the SACK scoreboard. Falls back to `NewReno` if the peer does not permit SACK.
    Sack,
    /// RFC 8985: RACK on top of the SACK scoreboard. Falls back likewise.
    Rack,
}

/// What detects a spurious retransmission and undoes its consequences; each alone, or together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpuriousResponse {
    /// DSACK (RFC 2883, RFC 3708): needs SACK and a peer that reports duplicates.
    pub dsack: bool,
    /// Eifel (RFC 3522, RFC 4015): needs timestamps.
    pub eifel: bool,
    /// F-RTO (RFC 5682), with SACK or without.
    pub frto: bool,
    /// TCP-DOOR (Wang and Zhang 2002): needs SACK, and timestamps for what was sent again. After out-of-order arrival a
    /// reduction is taken back that is no older than `door_t2`, and for `door_t1` there is no other.
    pub door: bool,
}

impl SpuriousResponse {
    /// All that RFCs describe together.
    pub const fn all() -> Self {
        Self { dsack: true, eifel: true, frto: true, door: false }
    }
}

/// Who says how much may be sent and received.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowOwner {
    /// This connection: a TCP connection.
    #[default]
    Own,
    /// The Multipath TCP connection above: this subflow neither limits its sending to the peer's window nor
    /// probes it, accepts data up to the largest window, and the window field is filled in by the owner.
    Shared,
}

/// Hands the constants of a connection to the macro `$declare`, which makes [`Config`] of them here and a table of
/// keys where scenario files are read. A line is a constant: name, type, unit, and what `linux` and `classic` say. The
/// name is the file's key.
#[macro_export]
macro_rules! tcp_constants {
    ($declare:path) => {
        $declare! {
            /// The constants of one connection. Sizes in octets unless said otherwise.
            #[derive(Clone, PartialEq, Debug)]
            pub struct Config {
                presets {
                    /// As Linux 6.x behaves: CUBIC, SACK, RACK-TLP, PRR, timestamps, initial window 10, RTO of at least
                    /// 200 ms, F-RTO and DSACK, autotuned buffers, for an MTU of 1500.
                    linux,
                    /// NewReno of the papers' era (ns-3.13 to 3.19), without SACK, timestamps and window scaling. Initial window
                    /// 1, windows of 65 535 octets, packets of 1400 octets. RTO of at least 200 ms, delayed ACKs of two
                    /// segments or 200 ms, growth by ACKs.
                    classic,
                }
                keys {
                    /// Greatest segment, options included: the MSS option (RFC 6691). A file that does not name it gets the least
                    /// MTU of the paths less 40 octets, with the preset classic at most 1400.
                    mss: u16 [octets] = 1460, 1400;
                    /// Initial window (RFC 6928: 10; RFC 5681: 2 to 4; the papers' simulators: 1).
                    initial_window: u32 [segments] = 10, 1;
                    /// Initial slow-start threshold. Unlimited is "arbitrarily high" (RFC 5681 §3.1).
                    initial_ssthresh: Option<u32> [octets_or_unlimited] = None, Some(65_535);
                    /// Window scaling: the shift offered (RFC 7323 §2). Off sends no option.
                    window_scale: Option<u8> [shift_or_off] = Some(7), None;
                    /// Timestamps (RFC 7323).
                    timestamps: bool = true, false;
                    /// Selective acknowledgements (RFC 2018). When a file switches them on over a preset without them,
                    /// `loss_recovery` becomes sack unless it is given; when it switches them off, newreno.
                    sack: bool = true, false;
                    /// As a receiver, report duplicates (DSACK, RFC 2883).
                    report_duplicates: bool = true, false;
                    /// What the receiver buffers at most: the greatest window that it advertises.
                    receive_buffer: u32 [octets] = 6 * 1024 * 1024, 65_535;
                    /// What a piece that waits above a hole costs beside its octets, in octets of the receive buffer: this bounds
                    /// the number of pieces. What is too much is not taken, and comes again.
                    octets_per_piece: u32 = 256, 256;
                    /// Pieces that may wait above holes, however small the receive buffer is.
                    least_pieces: u32 = 64, 64;
                    /// Start with a window of 64 kB and let it grow up to `receive_buffer` as the connection speeds up: twice
                    /// what was read in the last round-trip time (Linux's receive buffer autotuning).
                    receive_autotuning: bool = true, false;
                    /// Written but not yet acknowledged, at most.
                    send_buffer: u32 [octets] = 4 * 1024 * 1024, 4 * 1024 * 1024;
                    /// The send buffer is memory for two of the largest windows so far, for ten segments at least and `send_buffer` at most.
                    /// An application that has filled it hears of room when a third is free. As Linux, unless an application sets
                    /// SO_SNDBUF. Of no effect on a subflow.
                    send_autotuning: bool = true, false;
                    /// A tuned send buffer counts memory: it has room for segments of the next power of two above their payload and so many
                    /// octets, and 256 more, and each packet in it takes its payload and a little more than so many octets. What waits above
                    /// a hole takes from the receive window. 512 are Linux's without wireless and tunnels, 640 with them; 0: neither.
                    memory_overhead: u32 = 512, 0;
                    /// When acknowledgements are sent.
                    delayed_ack: DelayedAck = DelayedAck::linux(), DelayedAck::classic();
                    /// Nagle's algorithm (RFC 9293 §3.7.4) as Linux has it: the tail of the stream waits only while another
                    /// small segment is unacknowledged (Minshall). Of no effect on a subflow.
                    nagle: bool = true, false;
                    /// Segments that leave together end with PSH, as each packet does that Linux lets its device cut (TSO). Otherwise only
                    /// the last octet that was written has it.
                    push_packets: bool = true, false;
                    /// Part of a packet that the window lets out just after others waits for the next ACK, if that is due within a
                    /// millisecond, so that more leaves at once (Linux `tcp_tso_should_defer`).
                    defer_packets: bool = true, false;
                    /// Retransmission timeout before the first measurement (RFC 6298 §2.1: 1 s).
                    rto_initial: Duration = Duration::from_secs(1), Duration::from_secs(3);
                    /// Least retransmission timeout (RFC 6298 §2.4: 1 s; Linux: 200 ms).
                    rto_min: Duration = Duration::from_millis(200), Duration::from_millis(200);
                    /// `rto_min` holds for the variance term, RTO = SRTT + max(4 RTTVAR, `rto_min`), as in Linux; otherwise for
                    /// the whole timeout (RFC 6298 §2.4).
                    rto_floor_on_variance: bool = true, false;
                    /// G of RFC 6298 §2: the least variance term.
                    clock_granularity: Duration = Duration::from_millis(1), Duration::from_millis(1);
                    /// The handshake's round-trip time counts as the first measurement. Otherwise `rto_initial` holds until the
                    /// first data segment is acknowledged, as in ns-3 up to 3.19. There the initial window is one segment, whose
                    /// ACK is delayed by as much as `rto_min`: a measured timeout would expire in vain.
                    handshake_rtt: bool = true, false;
                    /// Greatest retransmission timeout (RFC 6298 §2.5: at least 60 s; Linux: 120 s).
                    rto_max: Duration = Duration::from_secs(120), Duration::from_secs(60);
                    /// Successive timeouts of one segment after which the connection ends with an error (RFC 9293 §3.8.3).
                    max_retransmissions: u32 = 15, 15;
                    /// The same for SYN and SYN/ACK.
                    max_syn_retransmissions: u32 = 6, 6;
                    /// How losses are found.
                    loss_recovery: LossRecovery = LossRecovery::Rack, LossRecovery::NewReno;
                    /// RACK's round-trip time is that of the segment which Linux looks at last (`tcp_rack_advance`): of an ACK that advances, the
                    /// highest acknowledged, although what it SACKs was sent later. Otherwise of the one sent last (RFC 8985 §6.2). An ACK
                    /// that was delayed finds a loss later so.
                    rack_rtt_as_linux: bool = true, false;
                    /// Limited transmit (RFC 3042; part of RFC 6675).
                    limited_transmit: bool = true, false;
                    /// Fast recovery after a fast retransmit (RFC 5681 §3.2). Without it the connection begins again with one
                    /// segment, as after a timeout (Jacobson 1988, "Tahoe").
                    fast_recovery: bool = true, true;
                    /// Without SACK, fast recovery ends when something above its recovery point is acknowledged, as in Linux. Otherwise
                    /// it ends with the point itself (RFC 6582 §3.2 step 3).
                    recovery_ends_above: bool = true, false;
                    /// Proportional rate reduction (RFC 9937) instead of RFC 6675's or RFC 6582's window during recovery.
                    prr: bool = true, false;
                    /// Tail loss probes (RFC 8985 §7).
                    tail_loss_probe: bool = true, false;
                    /// Packets leave in bursts of a millisecond, spaced as Linux spaces them under `fq`: at twice cwnd per SRTT in
                    /// the first half of slow start, 1.2 times after. BBR paces in any case, at its own rate.
                    pacing: bool = false, false;
                    /// The window grows by the octets that an ACK tells to have arrived, as in Linux (`tcp_cong_control`): what was SACKed
                    /// before does not count again, and the ACK that ends a fast recovery counts too. Otherwise by the octets that an
                    /// ACK outside recovery acknowledges cumulatively (RFC 3465 §2.1).
                    growth_by_delivery: bool = true, false;
                    /// CUBIC's Reno-friendly estimate grows by a whole segment per round-trip time once it is back at the window
                    /// before the loss (RFC 9438 §4.3); Linux goes on with 0.53, as RFC 8312 had it.
                    cubic_catches_up: bool = false, true;
                    /// Windows are counted in whole segments, as in Linux. CUBIC calculates its growth anew when the window has changed, else at
                    /// most 32 times a second, and not at each ACK with fractions (RFC 9438). Proportional rate reduction rounds what may be
                    /// sent up to a segment.
                    whole_segments: bool = true, false;
                    /// After a loss, take ssthresh from cwnd and in whole segments, as Linux does; otherwise from FlightSize, in
                    /// octets (RFC 5681 §3.1 eq. 4, RFC 9438 §4.6).
                    ssthresh_from_cwnd: bool = true, false;
                    /// When slow start counts octets, how many segments one ACK adds at most (RFC 3465 §2.2: L = 2). Linux has no
                    /// limit, and HyStart++ its own of 8 without pacing (RFC 9406 §4.3).
                    slow_start_limit: Option<u32> [segments_or_unlimited] = None, Some(2);
                    /// What detects a spurious retransmission and undoes its consequences.
                    spurious: SpuriousResponse = SpuriousResponse::all(), SpuriousResponse::default();
                    /// TCP-DOOR's T1: for so long after out-of-order arrival nothing reduces the window. Default: a smoothed round-trip
                    /// time.
                    door_t1: Option<Duration> = None, None;
                    /// TCP-DOOR's T2: out-of-order arrival takes back a reduction that is no older. Default: a smoothed round-trip time.
                    door_t2: Option<Duration> = None, None;
                    /// Explicit congestion notification (RFC 3168).
                    ecn: bool = false, false;
                    /// After an idle time of more than one RTO, halve cwnd for each RTO of it, down to the initial window. Keep 3/4 of
                    /// the old one as ssthresh (RFC 2861, as Linux). RFC 5681 §4.1 restarts from the initial window.
                    idle_restart: bool = true, false;
                    /// What other simulators do and no standard has.
                    quirks: Quirks = Quirks::linux(), Quirks::classic();
                    /// How long TIME-WAIT lasts (2 MSL, RFC 9293 §3.4.2; Linux: 60 s).
                    time_wait: Duration = Duration::from_secs(60), Duration::from_secs(60);
                }
                inner {
                    /// Octets of every data segment kept free for options that an upper layer adds (a DSS); a multiple of 4.
                    option_reserve: u32 = 0, 0;
                    /// The window's control. Files have a key for its name and one for each of its constants.
                    congestion_control: CongestionControl =
                        CongestionControl::Cubic { hystart: HyStart::Linux },
                        CongestionControl::NewReno { byte_counting: false };
                    /// How long a path is taken to carry no more than a router said; then full segments are tried again (RFC 1191 §6.3,
                    /// RFC 8201 §4; Linux: `net.ipv4.route.mtu_expires`).
                    path_mtu_lifetime: Duration = Duration::from_secs(600), Duration::from_secs(600);
                    /// Whose windows hold.
                    window_owner: WindowOwner = WindowOwner::Own, WindowOwner::Own;
                    /// Emit the events that come with every ACK (`CwndUpdated` and the like). Costs time: off by default.
                    trace: bool = false, false;
                }
            }
        }
    };
}

tcp_constants!(ropewalk_units::configuration);

impl Config {
    /// How many pieces a receive buffer of so many octets may be in.
    pub fn most_pieces(&self, receive_buffer: u32) -> usize {
        (receive_buffer / self.octets_per_piece.max(1)).max(self.least_pieces) as usize
    }

    /// The part that the congestion controller is made from.
    pub(crate) fn congestion(&self, iss: Seq) -> ropewalk_congestion::Config {
        ropewalk_congestion::Config {
            pacing: self.pacing,
            // The one number that differs between connections.
            seed: u64::from(iss.get()),
            congestion_control: self.congestion_control,
            initial_window: self.initial_window,
            initial_ssthresh: self.initial_ssthresh,
            cubic_catches_up: self.cubic_catches_up,
            whole_segments: self.whole_segments,
            ssthresh_from_cwnd: self.ssthresh_from_cwnd,
            ssthresh_after_loss: self.quirks.ssthresh_after_loss,
            slow_start_limit: self.slow_start_limit,
        }
    }
}

impl Config {
    /// ECN is on, or the algorithm cannot do without.
    pub(crate) fn uses_ecn(&self) -> bool {
        self.ecn || self.congestion_control == CongestionControl::Dctcp
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::linux()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_may_wait_follow_the_buffer_down_to_the_least() {
        let config = Config { octets_per_piece: 256, least_pieces: 64, ..Config::linux() };
        assert_eq!(config.most_pieces(6 * 1024 * 1024), 24 * 1024);
        assert_eq!(config.most_pieces(16 * 1024 + 255), 64);
        assert_eq!(config.most_pieces(16 * 1024 + 256), 65);
        assert_eq!(config.most_pieces(0), 64);
        let unweighted = Config { octets_per_piece: 0, ..config };
        assert_eq!(unweighted.most_pieces(1000), 1000);
    }
}
