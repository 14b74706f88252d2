//! Every constant that a paper or a real stack chooses, with two presets.

use ropewalk_congestion::{CongestionControl, HyStart};
use ropewalk_units::{Duration, Seq};

/// When a receiver acknowledges (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// An ACK at the latest after this many full-sized segments; 1 acknowledges every segment.
    pub segments: u32,
    /// … or after this time.
    pub timeout: Duration,
    /// The first so many segments of a connection are acknowledged at once, as Linux does while the sender is
    /// in slow start ("quick ACKs"); 0 switches it off.
    pub quick_acks: u32,
}

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
    /// F-RTO (RFC 5682, SACK version).
    pub frto: bool,
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

/// The constants of one connection. Sizes in octets unless said otherwise.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The MSS option sent: the MTU less 40 for IPv4. Options come out of it (RFC 6691).
    pub mss: u16,
    /// Octets of every data segment kept free for options that an upper layer adds (a DSS); a multiple of 4.
    pub option_reserve: u32,
    /// Initial window in segments (RFC 6928: 10; RFC 5681: 2–4; the papers' simulators: 1).
    pub initial_window: u32,
    /// Initial ssthresh; `None` is "arbitrarily high" (RFC 5681 §3.1).
    pub initial_ssthresh: Option<u32>,
    /// The shift offered (RFC 7323 §2); `None` sends no option.
    pub window_scale: Option<u8>,
    /// RFC 7323 timestamps.
    pub timestamps: bool,
    /// SACK permitted and used (RFC 2018).
    pub sack: bool,
    /// As a receiver, report duplicates (RFC 2883).
    pub report_duplicates: bool,
    /// Octets the receiver buffers at most: the largest window it advertises.
    pub receive_buffer: u32,
    /// Start with a window of 64 kB and let it grow up to `receive_buffer` as the connection speeds up, twice
    /// what was read in the last round-trip time (Linux's receive buffer autotuning).
    pub receive_autotuning: bool,
    /// Octets written but not yet acknowledged, at most.
    pub send_buffer: u32,
    /// When ACKs are sent.
    pub delayed_ack: DelayedAck,
    /// Nagle's algorithm (RFC 9293 §3.7.4) as Linux has it: the tail of the stream waits only while another small
    /// segment is unacknowledged (Minshall). Of no effect on a subflow.
    pub nagle: bool,
    /// Retransmission timeout before the first measurement (RFC 6298 §2.1: 1 s).
    pub rto_initial: Duration,
    /// The handshake's round-trip time counts as the first measurement. Otherwise `rto_initial` holds until the
    /// first data segment is acknowledged, as in ns-3 up to 3.19: with an initial window of one segment, whose
    /// ACK is delayed by as much as `rto_min`, a measured RTO would expire in vain.
    pub handshake_rtt: bool,
    /// Least RTO (RFC 6298 §2.4: 1 s; Linux: 200 ms).
    pub rto_min: Duration,
    /// `rto_min` holds for the variance term, RTO = SRTT + max(4 RTTVAR, `rto_min`), as in Linux; otherwise for
    /// the whole RTO (RFC 6298 §2.4).
    pub rto_floor_on_variance: bool,
    /// G of RFC 6298 §2: the least variance term.
    pub clock_granularity: Duration,
    /// Each timeout doubles the RTO (RFC 6298 §5.5). Without it the RTO only follows the round trip: for imitating simulators
    /// that forgot.
    pub rto_backoff: bool,
    /// Greatest RTO after back-off (RFC 6298 §2.5: at least 60 s; Linux: 120 s).
    pub rto_max: Duration,
    /// A connection ends with an error after this many successive timeouts of one segment (RFC 9293 §3.8.3).
    pub max_retransmissions: u32,
    /// … of a SYN or SYN/ACK.
    pub max_syn_retransmissions: u32,
    /// How losses are found.
    pub loss_recovery: LossRecovery,
    /// Fast recovery after a fast retransmit (RFC 5681 §3.2). Without it the connection begins again with one segment, as
    /// after a timeout (Jacobson 1988, "Tahoe").
    pub fast_recovery: bool,
    /// After every loss ssthresh is so many segments, whatever the algorithm says: for imitating simulators that mixed
    /// octets and segments up.
    pub ssthresh_after_loss: Option<u32>,
    /// A timeout leaves half of the window instead of one segment (RFC 5681 §3.1): for imitating simulators that did so.
    pub timeout_halves_window: bool,
    /// Limited transmit (RFC 3042; part of RFC 6675).
    pub limited_transmit: bool,
    /// Proportional rate reduction (RFC 9937) instead of RFC 6675's / RFC 6582's window during recovery.
    pub prr: bool,
    /// Tail loss probes (RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// The window's control.
    pub congestion_control: CongestionControl,
    /// Packets leave in bursts of a millisecond, spaced as Linux spaces them under `fq`: at twice cwnd per SRTT in the
    /// first half of slow start, 1.2 times after. BBR paces in any case, at its own rate.
    pub pacing: bool,
    /// CUBIC's Reno-friendly estimate grows by a whole segment per round-trip time once it is back at the window
    /// before the loss (RFC 9438 §4.3); Linux goes on with 0.53, as RFC 8312 had it.
    pub cubic_catches_up: bool,
    /// After a loss, take ssthresh from cwnd and in whole segments, as Linux does; otherwise from FlightSize, in
    /// octets (RFC 5681 §3.1 eq. 4, RFC 9438 §4.6).
    pub ssthresh_from_cwnd: bool,
    /// When slow start counts octets, how many segments one ACK adds at most (RFC 3465 §2.2: L = 2); `None` is
    /// no limit, as Linux. HyStart++ has its own limit of 8 (RFC 9406 §4.3).
    pub slow_start_limit: Option<u32>,
    /// Spurious retransmissions.
    pub spurious: SpuriousResponse,
    /// ECN (RFC 3168).
    pub ecn: bool,
    /// After an idle time of one RTO or more, halve cwnd for each RTO of it, down to the initial window, and
    /// keep 3/4 of the old one as ssthresh (RFC 2861, as Linux; RFC 5681 §4.1 restarts from the initial window).
    pub idle_restart: bool,
    /// How long TIME-WAIT lasts (2 MSL, RFC 9293 §3.4.2; Linux: 60 s).
    pub time_wait: Duration,
    /// Whose windows hold.
    pub window_owner: WindowOwner,
    /// Emit the events that come with every ACK (`CwndUpdated` and the like). Costs time: off by default.
    pub trace: bool,
}

impl Config {
    /// As Linux 6.x behaves: CUBIC, SACK, RACK-TLP, PRR, timestamps, initial window 10, RTO of at least
    /// 200 ms, F-RTO and DSACK, autotuned buffers, for an MTU of 1500.
    pub fn linux() -> Self {
        Self {
            mss: 1460,
            option_reserve: 0,
            initial_window: 10,
            initial_ssthresh: None,
            window_scale: Some(7),
            timestamps: true,
            sack: true,
            report_duplicates: true,
            receive_buffer: 6 * 1024 * 1024,
            receive_autotuning: true,
            send_buffer: 4 * 1024 * 1024,
            delayed_ack: DelayedAck { segments: 2, timeout: Duration::from_millis(40), quick_acks: 16 },
            nagle: true,
            rto_initial: Duration::from_secs(1),
            handshake_rtt: true,
            rto_min: Duration::from_millis(200),
            rto_floor_on_variance: true,
            clock_granularity: Duration::from_millis(1),
            rto_backoff: true,
            rto_max: Duration::from_secs(120),
            max_retransmissions: 15,
            max_syn_retransmissions: 6,
            loss_recovery: LossRecovery::Rack,
            fast_recovery: true,
            ssthresh_after_loss: None,
            timeout_halves_window: false,
            limited_transmit: true,
            prr: true,
            tail_loss_probe: true,
            congestion_control: CongestionControl::Cubic { hystart: HyStart::PlusPlus },
            pacing: false,
            cubic_catches_up: false,
            ssthresh_from_cwnd: true,
            slow_start_limit: None,
            spurious: SpuriousResponse { dsack: true, eifel: true, frto: true },
            ecn: false,
            idle_restart: true,
            time_wait: Duration::from_secs(60),
            window_owner: WindowOwner::Own,
            trace: false,
        }
    }

    /// NewReno of the papers' era (ns-3.13 to 3.19): no SACK, no timestamps, no window scaling, initial window
    /// 1, windows of 65 535 octets, RTO of at least 200 ms, delayed ACKs of two segments or 200 ms, growth by
    /// ACKs, packets of 1400 octets.
    pub fn classic() -> Self {
        Self {
            mss: 1400,
            option_reserve: 0,
            initial_window: 1,
            initial_ssthresh: Some(65_535),
            window_scale: None,
            timestamps: false,
            sack: false,
            report_duplicates: false,
            receive_buffer: 65_535,
            receive_autotuning: false,
            send_buffer: 4 * 1024 * 1024,
            delayed_ack: DelayedAck { segments: 2, timeout: Duration::from_millis(200), quick_acks: 0 },
            nagle: false,
            rto_initial: Duration::from_secs(3),
            handshake_rtt: false,
            rto_min: Duration::from_millis(200),
            rto_floor_on_variance: false,
            clock_granularity: Duration::from_millis(1),
            rto_backoff: true,
            rto_max: Duration::from_secs(60),
            max_retransmissions: 15,
            max_syn_retransmissions: 6,
            loss_recovery: LossRecovery::NewReno,
            fast_recovery: true,
            ssthresh_after_loss: None,
            timeout_halves_window: false,
            limited_transmit: false,
            prr: false,
            tail_loss_probe: false,
            congestion_control: CongestionControl::NewReno { byte_counting: false },
            pacing: false,
            cubic_catches_up: true,
            ssthresh_from_cwnd: false,
            slow_start_limit: Some(2),
            spurious: SpuriousResponse::default(),
            ecn: false,
            idle_restart: false,
            time_wait: Duration::from_secs(60),
            window_owner: WindowOwner::Own,
            trace: false,
        }
    }
}

impl Config {
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
            ssthresh_from_cwnd: self.ssthresh_from_cwnd,
            ssthresh_after_loss: self.ssthresh_after_loss,
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
