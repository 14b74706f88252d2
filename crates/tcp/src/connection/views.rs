//! What can be asked of a connection, all of it O(1).

use super::recovery::Phase;
use super::{Connection, LossRecovery};
use crate::state::State;
use crate::stats::Stats;
use ropewalk_units::{Duration, Rate, Seq};

/// How much more a connection can take: see the methods of [`Connection`] of these names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Octets that count against cwnd.
    pub pipe: u32,
    /// Octets that cwnd lets out beyond those that wait.
    pub cwnd_space: u32,
    /// Free octets of the send buffer.
    pub send_space: u64,
}

impl Connection {
    /// The state of RFC 9293 §3.3.2.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Is the handshake complete, and data may flow at least one way?
    pub fn is_established(&self) -> bool {
        self.state.is_synchronized() && self.state != State::TimeWait
    }

    /// The congestion window in octets. Without SACK and PRR, inflated during fast recovery (RFC 6582).
    #[inline]
    pub fn cwnd(&self) -> u32 {
        if self.inflates() {
            let inflated = i64::from(self.controller.cwnd()) + self.recovery.credit;
            return inflated.clamp(i64::from(self.smss), i64::from(u32::MAX)) as u32;
        }
        self.controller.cwnd()
    }

    /// RFC 6582 with its own inflation of cwnd?
    #[inline]
    fn inflates(&self) -> bool {
        self.recovery.phase == Phase::Fast
            && self.loss_recovery == LossRecovery::NewReno
            && self.prr.is_none()
    }

    /// The slow start threshold in octets; `u32::MAX` before the first loss unless configured.
    #[inline]
    pub fn ssthresh(&self) -> u32 {
        self.controller.ssthresh()
    }

    /// Octets sent and not cumulatively acknowledged.
    #[inline]
    pub fn flight_size(&self) -> u32 {
        self.flight()
    }

    /// Octets that count against cwnd (RFC 6675 §4; without SACK less what duplicate ACKs tell of).
    #[inline]
    pub fn pipe(&self) -> u32 {
        let pipe = self.queue.pipe(self.flight());
        if self.loss_recovery == LossRecovery::NewReno && self.recovery.credit != 0 {
            return (i64::from(pipe) - self.recovery.credit).max(0) as u32;
        }
        pipe
    }

    /// Octets that cwnd (and the peer's window, if it is this connection's) lets out now beyond
    /// [`Self::unsent`].
    #[inline]
    pub fn cwnd_space(&self) -> u32 {
        if !matches!(self.state, State::Established | State::CloseWait) {
            return 0;
        }
        let unsent = self.stream.unsent().min(u64::from(u32::MAX)) as u32;
        let mut space = self.controller.cwnd().saturating_sub(self.outstanding());
        if self.owns_window() {
            space = space.min(self.peer.window.saturating_sub(self.flight()));
        }
        self.paced_space(space.saturating_sub(unsent))
    }

    /// [`Self::pipe`], [`Self::cwnd_space`] and [`Self::send_space`] in one, which share most of their reckoning: for a
    /// scheduler that asks after every ACK.
    #[inline]
    pub fn room(&self) -> Room {
        let plain = self.recovery.phase == Phase::Open
            && self.queue.is_plain()
            && self.config.limited_transmit
            && self.loss_recovery != LossRecovery::NewReno
            && self.state == State::Established
            && !self.owns_window();
        if !plain {
            return Room { pipe: self.pipe(), cwnd_space: self.cwnd_space(), send_space: self.send_space() };
        }
        // Nothing is SACKed, lost or sent again.
        let (flight, unsent) = (self.flight(), self.stream.unsent());
        let space = self.controller.cwnd().saturating_sub(flight);
        Room {
            pipe: flight,
            cwnd_space: self.paced_space(space.saturating_sub(unsent.min(u64::from(u32::MAX)) as u32)),
            send_space: u64::from(self.config.send_buffer).saturating_sub(unsent + u64::from(flight)),
        }
    }

    /// Octets of data in a full segment, options and the option reserve taken off.
    #[inline]
    pub fn smss(&self) -> u32 {
        self.smss
    }

    /// Smoothed round-trip time.
    #[inline]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// Its mean deviation, if anything was measured.
    #[inline]
    pub fn rttvar(&self) -> Option<Duration> {
        self.rtt.srtt().map(|_| self.rtt.rttvar())
    }

    /// The least round-trip time measured.
    #[inline]
    pub fn min_rtt(&self) -> Option<Duration> {
        self.rtt.min()
    }

    /// The last round-trip time measured.
    #[inline]
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.rtt.latest()
    }

    /// The retransmission timeout now, backed off.
    #[inline]
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// cwnd below ssthresh, and no fast recovery?
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.recovery.phase != Phase::Fast && self.controller.in_slow_start()
    }

    /// In fast recovery?
    #[inline]
    pub fn in_recovery(&self) -> bool {
        self.recovery.phase == Phase::Fast
    }

    /// Repairing after a timeout?
    #[inline]
    pub fn in_timeout_recovery(&self) -> bool {
        self.recovery.phase == Phase::Timeout
    }

    /// Timeouts since the last progress.
    #[inline]
    pub fn consecutive_timeouts(&self) -> u32 {
        self.consecutive_timeouts
    }

    /// Octets newly delivered per time, recently.
    #[inline]
    pub fn delivery_rate(&self) -> Option<Rate> {
        self.rate.rate()
    }

    /// How fast data leaves if it is paced: BBR's rate, or the rate with which Linux would pace. That is twice cwnd
    /// per SRTT in the first half of slow start, and 1.2 times cwnd per SRTT afterwards. Before any measurement the
    /// initial RTO stands for SRTT.
    pub fn pacing_rate(&self) -> Rate {
        let srtt = self.rtt.srtt().unwrap_or(self.config.rto_initial);
        self.controller.pacing_rate(srtt)
    }

    /// The bandwidth that BBR estimates.
    pub fn bandwidth(&self) -> Option<Rate> {
        self.controller.bandwidth()
    }

    /// DCTCP.Alpha (RFC 8257 §3.3).
    pub fn alpha(&self) -> Option<f64> {
        self.controller.alpha()
    }

    /// Our initial sequence number.
    pub fn iss(&self) -> Seq {
        self.iss
    }

    /// The peer's initial sequence number, once its SYN came.
    pub fn irs(&self) -> Seq {
        self.irs
    }

    /// SND.UNA.
    #[inline]
    pub fn snd_una(&self) -> Seq {
        self.una
    }

    /// SND.NXT.
    #[inline]
    pub fn snd_nxt(&self) -> Seq {
        self.nxt
    }

    /// RCV.NXT.
    #[inline]
    pub fn rcv_nxt(&self) -> Seq {
        self.window.next()
    }

    /// Octets that arrived above a hole, and the pieces that they are in.
    pub fn out_of_order(&self) -> (u64, usize) {
        self.reassembly.waiting()
    }

    /// The shift of the peer's window field.
    pub fn peer_window_scale(&self) -> u8 {
        self.peer.scale
    }

    /// The shift of our window field.
    pub fn own_window_scale(&self) -> u8 {
        self.window.scale()
    }

    /// The round-trip time as the receiving side measures it, with receive buffer autotuning.
    pub fn receiver_rtt(&self) -> Option<Duration> {
        self.window.rtt()
    }

    /// SND.WND: the window that the peer advertised last, in octets from SND.UNA.
    pub fn peer_window(&self) -> u32 {
        self.peer.window
    }

    /// The counters.
    #[inline]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The constants it was made with.
    pub fn config(&self) -> &crate::config::Config {
        &self.config
    }
}
