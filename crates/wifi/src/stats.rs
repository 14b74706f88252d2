//! What a network counts.

use ropewalk_units::Duration;

/// What has happened to the packets of one direction of a route, or of a broadcast entry.
///
/// `offered + duplicates = delivered + lost_retries + lost_queue + lost_lifetime + lost_route +
/// queued`, always.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RouteStats {
    /// Packets that came from the world.
    pub offered: u64,
    /// Their octets.
    pub offered_bytes: u64,
    /// Copies of broadcasts: for each, one less than the stations that have received it.
    pub duplicates: u64,
    /// Packets that arrived at the other end.
    pub delivered: u64,
    /// Their octets.
    pub delivered_bytes: u64,
    /// Given up by a station after its retry limit.
    pub lost_retries: u64,
    /// Found a station's queue full, or were too long for a frame.
    pub lost_queue: u64,
    /// Outlived their lifetime at a station.
    pub lost_lifetime: u64,
    /// Arrived at a station that was no longer on the route, or were broadcasts that no station
    /// received.
    pub lost_route: u64,
    /// In the queues of the stations now, the ones in service included.
    pub queued: u64,
    /// Their octets.
    pub queued_bytes: u64,
    /// Attempts to send one of its data frames, over all hops.
    pub attempts: u64,
    /// Octets of these packets in those attempts.
    pub attempted_bytes: u64,
    /// Time its data frames were on the air, all attempts of all hops.
    pub airtime: Duration,
}

/// What a radio has done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RadioStats {
    /// Data frames sent, repetitions included.
    pub data_sent: u64,
    /// Those that were repetitions of a data frame.
    pub retries: u64,
    /// RTS frames sent.
    pub rts_sent: u64,
    /// CTS frames sent.
    pub cts_sent: u64,
    /// ACK frames sent.
    pub acks_sent: u64,
    /// Data frames that were answered by an ACK.
    pub acknowledged: u64,
    /// Times an ACK did not come.
    pub ack_timeouts: u64,
    /// Times a CTS did not come.
    pub cts_timeouts: u64,
    /// Data frames for this radio that were decoded, duplicates included.
    pub data_received: u64,
    /// Data frames received again because the ACK was lost.
    pub duplicates: u64,
    /// Frames whose preamble was received and which were then spoiled by interference.
    pub collisions: u64,
    /// Frames whose preamble was received and which noise alone spoiled.
    pub noise: u64,
    /// Data frames for this radio spoiled by the channel's frame errors.
    pub frame_errors: u64,
    /// Frames in reception when the radio itself began to send.
    pub missed: u64,
    /// Packets dropped after the retry limit.
    pub drops_retries: u64,
    /// Packets dropped by the full queue.
    pub drops_queue: u64,
    /// Packets dropped because they had waited too long.
    pub drops_lifetime: u64,
    /// Time the radio was sending.
    pub sending: Duration,
    /// Time the medium was physically busy here, its own frames included.
    pub busy: Duration,
    /// Packets waiting or in service now.
    pub queued: u32,
}

/// What became of the data frames from one radio to another, broadcasts not among them.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct HopStats {
    /// Times one was sent.
    pub sent: u64,
    /// Those that were repetitions.
    pub retries: u64,
    /// Those answered by an ACK.
    pub acknowledged: u64,
    /// Packets given up after the retry limit.
    pub given_up: u64,
    /// Frames whose preamble the other one locked on to.
    pub heard: u64,
    /// Those it decoded, duplicates included.
    pub received: u64,
    /// The sum of the signal-to-noise ratios of those heard, in dB; none on disks.
    snr_sum_db: Option<f64>,
}

impl HopStats {
    /// The other one has locked on to a frame, at this signal-to-noise ratio in dB.
    pub(crate) fn note(&mut self, snr_db: Option<f64>, is_received: bool) {
        self.heard += 1;
        self.received += u64::from(is_received);
        if let Some(snr_db) = snr_db {
            self.snr_sum_db = Some(self.snr_sum_db.unwrap_or(0.0) + snr_db);
        }
    }

    /// The mean signal-to-noise ratio of the frames heard, in dB; `None` on disks, and when none
    /// was heard.
    pub fn mean_snr_db(&self) -> Option<f64> {
        self.snr_sum_db.map(|sum| sum / self.heard as f64)
    }
}
