//! What a connection counts.

/// Counters since the connection began. Segments include pure ACKs unless said otherwise; octets are payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Segments sent, of any kind.
    pub segments_sent: u64,
    /// Segments received, acceptable or not.
    pub segments_received: u64,
    /// Segments sent that carry data, retransmissions included.
    pub data_segments_sent: u64,
    /// Octets sent for the first time.
    pub bytes_sent: u64,
    /// Octets acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Octets taken in order for the first time.
    pub bytes_received: u64,
    /// Pure ACKs sent.
    pub acks_sent: u64,
    /// Segments with data (or a FIN) sent again, for whatever reason.
    pub retransmissions: u64,
    /// Octets sent again.
    pub retransmitted_bytes: u64,
    /// Retransmissions that proved unnecessary: reported by DSACK, or of a recovery that was undone.
    pub spurious_retransmissions: u64,
    /// Expiries of the retransmission timer after the handshake.
    pub timeouts: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Tail loss probes (RFC 8985 §7).
    pub tail_loss_probes: u64,
    /// Zero-window probes.
    pub window_probes: u64,
    /// Recoveries whose reduction of the window was taken back.
    pub undone: u64,
    /// Reductions of the window because of ECN-Echo.
    pub ecn_reductions: u64,
    /// Octets received a second time, or outside the window.
    pub duplicate_bytes_received: u64,
    /// Segments that arrived above a hole.
    pub out_of_order_segments: u64,
    /// Duplicate ACKs received.
    pub duplicate_acks_received: u64,
}
