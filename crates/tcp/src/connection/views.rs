//! What can be asked of a connection, all of it O(1).

use super::Connection;
use crate::receive::OutOfOrder;
use crate::recovery::Phase;
use crate::sender::Room;
use crate::state::State;
use crate::stats::Stats;
use ropewalk_units::{Duration, Instant, Rate, Seq};

impl Connection {
    /// The state of RFC 9293 §3.3.2.
    pub fn state(&self) -> State {
        self.cx.state
    }

    /// Is the handshake complete, and data may flow at least one way?
    pub fn is_established(&self) -> bool {
        self.cx.state.is_synchronized() && self.cx.state != State::TimeWait
    }

    /// The last timestamp of the peer (TS.Recent, RFC 7323 §4.3), if the connection has timestamps.
    pub fn recent_timestamp(&self) -> Option<u32> {
        self.cx.agreed.timestamps.then(|| self.receiver.recent_timestamp())
    }

    /// The congestion window in octets. Without SACK and PRR, inflated during fast recovery (RFC 6582).
    pub fn cwnd(&self) -> u32 {
        self.sender.cwnd()
    }

    /// The slow start threshold in octets; `u32::MAX` before the first loss unless configured.
    pub fn ssthresh(&self) -> u32 {
        self.sender.controller().ssthresh()
    }

    /// Octets sent and not cumulatively acknowledged.
    pub fn flight_size(&self) -> u32 {
        self.sender.flight()
    }

    /// Octets that count against cwnd (RFC 6675 §4; without SACK less what duplicate ACKs tell of).
    pub fn pipe(&self) -> u32 {
        self.sender.pipe()
    }

    /// Octets that cwnd (and the peer's window, if it is this connection's) lets out now beyond
    /// [`Self::unsent`].
    pub fn cwnd_space(&self) -> u32 {
        self.sender.cwnd_space(&self.cx)
    }

    /// When all has left that may leave now, does cwnd allow another segment on its way?
    pub fn leaves_room(&self) -> bool {
        self.sender.leaves_room(&self.cx)
    }

    /// [`Self::pipe`], [`Self::cwnd_space`] and [`Self::send_space`] in one, computed together, for a scheduler that
    /// asks after every ACK.
    #[inline(always)]
    pub fn room(&self) -> Room {
        self.sender.room(&self.cx)
    }

    /// Octets of data in a full segment, options and the option reserve taken off.
    pub fn smss(&self) -> u32 {
        self.sender.smss()
    }

    /// Smoothed round-trip time.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.rtt().srtt()
    }

    /// Its mean deviation, if anything was measured.
    pub fn rttvar(&self) -> Option<Duration> {
        self.sender.rtt().srtt().map(|_| self.sender.rtt().rttvar())
    }

    /// The least round-trip time measured.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.sender.rtt().min()
    }

    /// The last round-trip time measured.
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.sender.rtt().latest()
    }

    /// The retransmission timeout now, backed off.
    pub fn rto(&self) -> Duration {
        self.sender.rtt().rto()
    }

    /// The retransmission timeout without the back-off that it keeps until a round trip is measured (RFC 6298 §5.7).
    pub fn base_rto(&self) -> Duration {
        self.sender.rtt().base()
    }

    /// cwnd below ssthresh, and no fast recovery?
    pub fn in_slow_start(&self) -> bool {
        self.sender.phase() != Phase::Fast && self.sender.controller().in_slow_start()
    }

    /// In fast recovery?
    pub fn in_recovery(&self) -> bool {
        self.sender.phase() == Phase::Fast
    }

    /// Repairing after a timeout?
    pub fn in_timeout_recovery(&self) -> bool {
        self.sender.phase() == Phase::Timeout && !self.sender.is_at_recovery_point(&self.cx)
    }

    /// When data on its way is looked at next, by a tail loss probe, RACK or the retransmission timer; `None`: nothing is on
    /// its way.
    pub fn repair_deadline(&self) -> Option<Instant> {
        self.sender.timers().repair()
    }

    /// Timeouts since the last progress.
    pub fn consecutive_timeouts(&self) -> u32 {
        self.sender.timeouts().consecutive()
    }

    /// Octets newly delivered per time, recently.
    pub fn delivery_rate(&self) -> Option<Rate> {
        self.sender.delivery_rate().rate()
    }

    /// How fast data leaves if it is paced: BBR's rate, or the rate with which Linux would pace. That is twice cwnd
    /// per SRTT in the first half of slow start, and 1.2 times cwnd per SRTT afterwards. Before any measurement the
    /// initial RTO stands for SRTT.
    pub fn pacing_rate(&self) -> Rate {
        let srtt = self.sender.rtt().srtt().unwrap_or(self.cx.config.rto_initial);
        self.sender.controller().pacing_rate(srtt)
    }

    /// The bandwidth that BBR estimates.
    pub fn bandwidth(&self) -> Option<Rate> {
        self.sender.controller().bandwidth()
    }

    /// DCTCP.Alpha (RFC 8257 §3.3).
    pub fn alpha(&self) -> Option<f64> {
        self.sender.controller().alpha()
    }

    /// Our initial sequence number.
    pub fn iss(&self) -> Seq {
        self.handshake.iss()
    }

    /// The peer's initial sequence number, once its SYN came.
    pub fn irs(&self) -> Seq {
        self.handshake.irs()
    }

    /// SND.UNA.
    pub fn snd_una(&self) -> Seq {
        self.sender.una()
    }

    /// SND.NXT.
    pub fn snd_nxt(&self) -> Seq {
        self.sender.nxt()
    }

    /// RCV.NXT.
    pub fn rcv_nxt(&self) -> Seq {
        self.receiver.next()
    }

    /// What arrived above a hole.
    pub fn out_of_order(&self) -> OutOfOrder {
        self.receiver.waiting()
    }

    /// The shift of the peer's window field.
    pub fn peer_window_scale(&self) -> u8 {
        self.sender.peer_window().scale()
    }

    /// The shift of our window field.
    pub fn own_window_scale(&self) -> u8 {
        self.receiver.window().scale()
    }

    /// How much of its buffer the owner offers on this subflow (see [`Self::follow_buffer`]).
    #[inline]
    pub fn offered(&self) -> u32 {
        self.receiver.window().offered()
    }

    /// The round-trip time as the receiving side measures it, with receive buffer autotuning.
    pub fn receiver_rtt(&self) -> Option<Duration> {
        self.receiver.window().rtt()
    }

    /// SND.WND: the window that the peer advertised last, in octets from SND.UNA.
    pub fn peer_window(&self) -> u32 {
        self.sender.peer_window().size()
    }

    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.cx.stats
    }

    /// The constants it was made with.
    pub fn config(&self) -> &crate::config::Config {
        &self.cx.config
    }
}
