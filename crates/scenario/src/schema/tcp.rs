//! TCP's constants as keys: `[tcp]` and `tcp = { … }` of a connection.

use super::quantity::{BufferSize, Time};
use super::tcp_values::{HyStartName, SegmentLimit, Shift, SpuriousList, Threshold};
use ropewalk_tcp::{Config, CongestionControl, DelayedAck, HyStart, LossRecovery};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named set of constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    /// As Linux 6.x behaves.
    Linux,
    /// NewReno of the papers' era.
    Classic,
}

impl Preset {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Classic => "classic",
        }
    }

    pub(crate) fn tcp(self) -> Config {
        match self {
            Self::Linux => Config::linux(),
            Self::Classic => Config::classic(),
        }
    }

    pub(crate) fn mptcp(self) -> ropewalk_mptcp::Config {
        match self {
            Self::Linux => ropewalk_mptcp::Config::linux(),
            Self::Classic => ropewalk_mptcp::Config::classic(),
        }
    }
}

/// TCP's constants. A key that is missing is taken from the preset.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TcpTable {
    /// Where all keys start from (default linux).
    pub(crate) preset: Option<Preset>,
    /// Greatest segment, options included: the MSS option. Default: the least MTU of the paths less 40 octets
    /// (preset classic: at most 1400).
    pub(crate) mss: Option<u16>,
    /// Initial window in segments (RFC 6928).
    pub(crate) initial_window: Option<u32>,
    /// Initial slow-start threshold: a size, or "unlimited".
    pub(crate) initial_ssthresh: Option<Threshold>,
    /// Window scaling (RFC 7323): the shift offered, 0 to 14, or "off".
    pub(crate) window_scale: Option<Shift>,
    /// Timestamps (RFC 7323).
    pub(crate) timestamps: Option<bool>,
    /// Selective acknowledgements (RFC 2018). When switched on over a preset without them, `loss_recovery`
    /// becomes "sack" unless it is given; when switched off, "newreno".
    pub(crate) sack: Option<bool>,
    /// As a receiver, report duplicates (DSACK, RFC 2883).
    pub(crate) report_duplicates: Option<bool>,
    /// Greatest receive window.
    pub(crate) receive_buffer: Option<BufferSize>,
    /// Start with a window of 64 kB that grows up to `receive_buffer` as the connection speeds up.
    pub(crate) receive_autotuning: Option<bool>,
    /// Octets written but not yet acknowledged, at most.
    pub(crate) send_buffer: Option<BufferSize>,
    /// When acknowledgements are sent.
    pub(crate) delayed_ack: Option<DelayedAckTable>,
    /// Nagle's algorithm.
    pub(crate) nagle: Option<bool>,
    /// Retransmission timeout before the first measurement (RFC 6298).
    pub(crate) rto_initial: Option<Time>,
    /// Least retransmission timeout.
    pub(crate) rto_min: Option<Time>,
    /// `rto_min` holds for the variance term, as in Linux, instead of for the whole timeout (RFC 6298 §2.4).
    pub(crate) rto_floor_on_variance: Option<bool>,
    /// The clock's granularity: the least variance term (RFC 6298 §2).
    pub(crate) clock_granularity: Option<Time>,
    /// The handshake's round-trip time is the first measurement; otherwise the first data segment's is.
    pub(crate) handshake_rtt: Option<bool>,
    /// Each timeout doubles the retransmission timeout; without it that only follows the round trip, to imitate simulators that
    /// forgot.
    pub(crate) rto_backoff: Option<bool>,
    /// Greatest retransmission timeout.
    pub(crate) rto_max: Option<Time>,
    /// Successive timeouts of one segment after which the connection ends with an error.
    pub(crate) max_retransmissions: Option<u32>,
    /// The same for SYN and SYN/ACK.
    pub(crate) max_syn_retransmissions: Option<u32>,
    /// How losses are found: newreno (RFC 6582), sack (RFC 6675) or rack (RFC 8985).
    pub(crate) loss_recovery: Option<RecoveryName>,
    /// Fast recovery after a fast retransmit (RFC 5681 §3.2); without it the connection begins again with one segment
    /// ("Tahoe").
    pub(crate) fast_recovery: Option<bool>,
    /// After every loss ssthresh is so many segments, whatever the algorithm says: to imitate simulators that mixed octets
    /// and segments up. Default: what the algorithm says.
    pub(crate) ssthresh_after_loss: Option<u32>,
    /// A timeout leaves half of the window instead of one segment: to imitate simulators that did so.
    pub(crate) timeout_halves_window: Option<bool>,
    /// Limited transmit (RFC 3042).
    pub(crate) limited_transmit: Option<bool>,
    /// Proportional rate reduction (RFC 9937).
    pub(crate) prr: Option<bool>,
    /// Tail loss probes (RFC 8985 §7).
    pub(crate) tail_loss_probe: Option<bool>,
    /// Congestion control of a TCP connection: newreno, cubic, dctcp or bbr. Multipath TCP has its own key.
    pub(crate) congestion_control: Option<ControlName>,
    /// With newreno: grow by acknowledged octets (RFC 3465) instead of by ACKs. Default with newreno on the
    /// preset linux: true.
    pub(crate) byte_counting: Option<bool>,
    /// With cubic, what ends slow start before a loss does: linux, plus-plus (HyStart++, RFC 9406) or off; true is
    /// plus-plus, false is off.
    pub(crate) hystart: Option<HyStartName>,
    /// Pace packets as Linux does under `fq`: at twice cwnd per round trip in slow start, 1.2 times after. BBR paces in
    /// any case.
    pub(crate) pacing: Option<bool>,
    /// With cubic: the Reno-friendly estimate grows by a whole segment per round trip once it is back at the
    /// window before the loss (RFC 9438 §4.3).
    pub(crate) cubic_catches_up: Option<bool>,
    /// After a loss, take ssthresh from cwnd and in whole segments, as Linux, instead of from what is in flight.
    pub(crate) ssthresh_from_cwnd: Option<bool>,
    /// When slow start counts octets: segments that one ACK adds at most (RFC 3465), or "unlimited".
    pub(crate) slow_start_limit: Option<SegmentLimit>,
    /// What detects a spurious retransmission and undoes its consequences: a list of dsack, eifel and frto.
    pub(crate) spurious: Option<SpuriousList>,
    /// Explicit congestion notification (RFC 3168).
    pub(crate) ecn: Option<bool>,
    /// After an idle time of one RTO, restart from the initial window (RFC 5681 §4.1).
    pub(crate) idle_restart: Option<bool>,
    /// How long TIME-WAIT lasts.
    pub(crate) time_wait: Option<Time>,
}

/// When acknowledgements are sent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DelayedAckTable {
    /// An ACK at the latest after so many full-sized segments; 1 acknowledges every segment.
    pub(crate) segments: Option<u32>,
    /// … or after this time.
    pub(crate) timeout: Option<Time>,
    /// The first so many segments are acknowledged at once.
    pub(crate) quick_acks: Option<u32>,
}

/// How losses are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RecoveryName {
    /// RFC 6582.
    Newreno,
    /// RFC 6675.
    Sack,
    /// RFC 8985.
    Rack,
}

/// Congestion control of TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ControlName {
    /// RFC 5681, RFC 6582.
    Newreno,
    /// RFC 9438.
    Cubic,
    /// RFC 8257; ECN is then on.
    Dctcp,
    /// BBRv3 (draft-ietf-ccwg-bbr).
    Bbr,
}

fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

impl TcpTable {
    /// Puts the keys that are given over those of `config`.
    pub(crate) fn apply(&self, config: &mut Config) {
        set(&mut config.mss, self.mss);
        set(&mut config.initial_window, self.initial_window);
        set(&mut config.initial_ssthresh, self.initial_ssthresh.map(|threshold| threshold.0));
        set(&mut config.window_scale, self.window_scale.map(|shift| shift.0));
        set(&mut config.timestamps, self.timestamps);
        set(&mut config.report_duplicates, self.report_duplicates);
        set(&mut config.receive_buffer, self.receive_buffer.map(|size| size.0));
        set(&mut config.receive_autotuning, self.receive_autotuning);
        set(&mut config.send_buffer, self.send_buffer.map(|size| size.0));
        set(&mut config.nagle, self.nagle);
        set(&mut config.rto_initial, self.rto_initial.map(|time| time.0));
        set(&mut config.rto_min, self.rto_min.map(|time| time.0));
        set(&mut config.rto_floor_on_variance, self.rto_floor_on_variance);
        set(&mut config.clock_granularity, self.clock_granularity.map(|time| time.0));
        set(&mut config.handshake_rtt, self.handshake_rtt);
        set(&mut config.rto_backoff, self.rto_backoff);
        set(&mut config.rto_max, self.rto_max.map(|time| time.0));
        set(&mut config.max_retransmissions, self.max_retransmissions);
        set(&mut config.max_syn_retransmissions, self.max_syn_retransmissions);
        set(&mut config.limited_transmit, self.limited_transmit);
        set(&mut config.fast_recovery, self.fast_recovery);
        config.ssthresh_after_loss = self.ssthresh_after_loss.or(config.ssthresh_after_loss);
        set(&mut config.timeout_halves_window, self.timeout_halves_window);
        set(&mut config.prr, self.prr);
        set(&mut config.tail_loss_probe, self.tail_loss_probe);
        set(&mut config.spurious, self.spurious.as_ref().map(|list| list.0));
        set(&mut config.ecn, self.ecn);
        set(&mut config.idle_restart, self.idle_restart);
        set(&mut config.time_wait, self.time_wait.map(|time| time.0));
        self.apply_delayed_ack(&mut config.delayed_ack);
        self.apply_recovery(config);
        self.apply_control(config);
    }

    fn apply_delayed_ack(&self, delayed: &mut DelayedAck) {
        if let Some(table) = &self.delayed_ack {
            set(&mut delayed.segments, table.segments);
            set(&mut delayed.timeout, table.timeout.map(|time| time.0));
            set(&mut delayed.quick_acks, table.quick_acks);
        }
    }

    fn apply_recovery(&self, config: &mut Config) {
        set(&mut config.sack, self.sack);
        match (self.sack, config.loss_recovery) {
            (Some(true), LossRecovery::NewReno) => config.loss_recovery = LossRecovery::Sack,
            (Some(false), _) => config.loss_recovery = LossRecovery::NewReno,
            _ => {}
        }
        let named = self.loss_recovery.map(|name| match name {
            RecoveryName::Newreno => LossRecovery::NewReno,
            RecoveryName::Sack => LossRecovery::Sack,
            RecoveryName::Rack => LossRecovery::Rack,
        });
        set(&mut config.loss_recovery, named);
    }

    fn apply_control(&self, config: &mut Config) {
        set(&mut config.pacing, self.pacing);
        set(&mut config.cubic_catches_up, self.cubic_catches_up);
        set(&mut config.ssthresh_from_cwnd, self.ssthresh_from_cwnd);
        set(&mut config.slow_start_limit, self.slow_start_limit.map(|limit| limit.0));
        let control = &mut config.congestion_control;
        match (self.congestion_control, *control) {
            (None, _)
            | (Some(ControlName::Newreno), CongestionControl::NewReno { .. })
            | (Some(ControlName::Cubic), CongestionControl::Cubic { .. }) => {}
            (Some(ControlName::Newreno), _) => {
                *control = CongestionControl::NewReno { byte_counting: true };
            }
            (Some(ControlName::Cubic), _) => *control = CongestionControl::Cubic { hystart: HyStart::Off },
            (Some(ControlName::Dctcp), _) => {
                *control = CongestionControl::Dctcp;
                config.ecn = true;
            }
            (Some(ControlName::Bbr), _) => *control = CongestionControl::Bbr,
        }
        match control {
            CongestionControl::NewReno { byte_counting } | CongestionControl::Coupled { byte_counting } => {
                set(byte_counting, self.byte_counting);
            }
            CongestionControl::Cubic { hystart } => set(hystart, self.hystart.map(|name| name.0)),
            CongestionControl::Dctcp | CongestionControl::Bbr => {}
        }
    }

    /// Every key with its value in `config`.
    pub(crate) fn explicit(config: &Config) -> Self {
        let (congestion_control, byte_counting, hystart) = match config.congestion_control {
            CongestionControl::NewReno { byte_counting } | CongestionControl::Coupled { byte_counting } => {
                (ControlName::Newreno, Some(byte_counting), None)
            }
            CongestionControl::Cubic { hystart } => (ControlName::Cubic, None, Some(HyStartName(hystart))),
            CongestionControl::Dctcp => (ControlName::Dctcp, None, None),
            CongestionControl::Bbr => (ControlName::Bbr, None, None),
        };
        let delayed_ack = DelayedAckTable {
            segments: Some(config.delayed_ack.segments),
            timeout: Some(Time(config.delayed_ack.timeout)),
            quick_acks: Some(config.delayed_ack.quick_acks),
        };
        let loss_recovery = match config.loss_recovery {
            LossRecovery::NewReno => RecoveryName::Newreno,
            LossRecovery::Sack => RecoveryName::Sack,
            LossRecovery::Rack => RecoveryName::Rack,
        };
        Self {
            preset: None,
            mss: Some(config.mss),
            initial_window: Some(config.initial_window),
            initial_ssthresh: Some(Threshold(config.initial_ssthresh)),
            window_scale: Some(Shift(config.window_scale)),
            timestamps: Some(config.timestamps),
            sack: Some(config.sack),
            report_duplicates: Some(config.report_duplicates),
            receive_buffer: Some(BufferSize(config.receive_buffer)),
            receive_autotuning: Some(config.receive_autotuning),
            send_buffer: Some(BufferSize(config.send_buffer)),
            delayed_ack: Some(delayed_ack),
            nagle: Some(config.nagle),
            rto_initial: Some(Time(config.rto_initial)),
            rto_min: Some(Time(config.rto_min)),
            rto_floor_on_variance: Some(config.rto_floor_on_variance),
            clock_granularity: Some(Time(config.clock_granularity)),
            handshake_rtt: Some(config.handshake_rtt),
            rto_backoff: Some(config.rto_backoff),
            rto_max: Some(Time(config.rto_max)),
            max_retransmissions: Some(config.max_retransmissions),
            max_syn_retransmissions: Some(config.max_syn_retransmissions),
            loss_recovery: Some(loss_recovery),
            limited_transmit: Some(config.limited_transmit),
            fast_recovery: Some(config.fast_recovery),
            ssthresh_after_loss: config.ssthresh_after_loss,
            timeout_halves_window: Some(config.timeout_halves_window),
            prr: Some(config.prr),
            tail_loss_probe: Some(config.tail_loss_probe),
            congestion_control: Some(congestion_control),
            byte_counting,
            hystart,
            pacing: Some(config.pacing),
            cubic_catches_up: Some(config.cubic_catches_up),
            ssthresh_from_cwnd: Some(config.ssthresh_from_cwnd),
            slow_start_limit: Some(SegmentLimit(config.slow_start_limit)),
            spurious: Some(SpuriousList(config.spurious)),
            ecn: Some(config.ecn),
            idle_restart: Some(config.idle_restart),
            time_wait: Some(Time(config.time_wait)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_keys_give_the_same_configuration_over_any_preset() {
        for (wanted, start) in [(Preset::Linux, Preset::Classic), (Preset::Classic, Preset::Linux)] {
            let table = TcpTable::explicit(&wanted.tcp());
            let mut config = start.tcp();
            table.apply(&mut config);
            assert_eq!(config, wanted.tcp());
        }
    }

    #[test]
    fn loss_recovery_follows_sack_unless_given() {
        let mut config = Config::classic();
        TcpTable { sack: Some(true), ..TcpTable::default() }.apply(&mut config);
        assert_eq!((config.sack, config.loss_recovery), (true, LossRecovery::Sack));
        let mut config = Config::linux();
        TcpTable { sack: Some(false), ..TcpTable::default() }.apply(&mut config);
        assert_eq!((config.sack, config.loss_recovery), (false, LossRecovery::NewReno));
        let mut config = Config::classic();
        let table =
            TcpTable { sack: Some(true), loss_recovery: Some(RecoveryName::Rack), ..TcpTable::default() };
        table.apply(&mut config);
        assert_eq!(config.loss_recovery, LossRecovery::Rack);
    }
}
