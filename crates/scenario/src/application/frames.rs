//! Frames of voice or video: when their packets leave, and when a frame is whole at its receiver.

use crate::plan::Frames;
use ropewalk_units::Instant;

/// How packets are numbered through the frames: every so many frames comes a key frame, which has more of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbering {
    /// Of a frame that is no key frame.
    packets: u64,
    /// From one key frame to the next, in frames; 1 without key frames.
    every: u64,
    /// Of a key frame.
    key_packets: u64,
}

impl Numbering {
    /// As a plan has it.
    pub fn new(frames: &Frames) -> Self {
        let packets = u64::from(frames.packets);
        Self {
            packets,
            every: frames.key_every.map_or(1, u64::from),
            key_packets: frames.key_packets.map_or(packets, u64::from),
        }
    }

    /// Packets of a frame.
    pub fn packets(&self, frame: u64) -> u64 {
        if frame.is_multiple_of(self.every) { self.key_packets } else { self.packets }
    }

    /// The frame of a packet.
    fn frame_of(&self, packet: u64) -> u64 {
        let group = self.key_packets + (self.every - 1) * self.packets;
        let (groups, within) = (packet / group, packet % group);
        let later = within.checked_sub(self.key_packets).map_or(0, |rest| 1 + rest / self.packets);
        groups * self.every + later
    }
}

/// A source of frames, a packet at a time.
#[derive(Clone, Debug)]
pub struct FrameSource {
    plan: Frames,
    numbering: Numbering,
    start: Instant,
    stop_at: Instant,
    /// The frame whose packets leave, and how many of them have.
    frame: u64,
    left: u64,
    next: Instant,
    sent: u64,
    finished: bool,
}

impl FrameSource {
    /// The first frame at `start`; none begins at `stop_at` or later.
    pub fn new(plan: &Frames, start: Instant, stop_at: Instant) -> Self {
        Self {
            plan: plan.clone(),
            numbering: Numbering::new(plan),
            start,
            stop_at,
            frame: 0,
            left: 0,
            next: start,
            sent: 0,
            finished: false,
        }
    }

    /// When a frame is there to be sent.
    pub fn captured_at(&self, frame: u64) -> Instant {
        self.start.saturating_add(self.plan.interval * frame)
    }

    /// Is a packet due? Each call that says so counts it as sent.
    pub fn count_if_due(&mut self, now: Instant) -> bool {
        if self.left == 0 && self.next >= self.stop_at {
            self.finished = true;
        }
        if self.finished || self.next > now {
            return false;
        }
        self.sent += 1;
        self.left += 1;
        let packets = self.numbering.packets(self.frame);
        if self.left == packets {
            self.frame += 1;
            self.left = 0;
        }
        let within = self.plan.spread * self.left / packets;
        self.next = self.captured_at(self.frame).saturating_add(within);
        true
    }

    /// When the next packet is due.
    pub fn deadline(&self) -> Option<Instant> {
        let stop = if self.left == 0 { self.stop_at } else { Instant::MAX };
        (!self.finished).then(|| self.next.min(stop))
    }

    /// Octets of a packet.
    pub fn packet(&self) -> u32 {
        self.plan.packet_size
    }

    /// Packets handed out so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Frames whose packets have all been handed out.
    pub fn frames(&self) -> u64 {
        self.frame
    }

    /// How packets are numbered.
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// Has the last packet been handed out?
    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

/// What has come of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameArrival {
    /// Packets, each once.
    pub received: u64,
    /// When the last one came.
    pub complete_at: Option<Instant>,
}

/// Puts frames together.
#[derive(Clone, Debug)]
pub struct FrameSink {
    numbering: Numbering,
    frames: Vec<FrameArrival>,
}

impl FrameSink {
    /// Nothing has come yet.
    pub fn new(numbering: Numbering) -> Self {
        Self { numbering, frames: Vec::new() }
    }

    /// A packet comes for the first time.
    pub fn receive(&mut self, now: Instant, packet: u64) {
        let frame = self.numbering.frame_of(packet);
        let place = frame as usize;
        if place >= self.frames.len() {
            self.frames.resize(place + 1, FrameArrival::default());
        }
        let arrival = &mut self.frames[place];
        arrival.received += 1;
        if arrival.received == self.numbering.packets(frame) {
            arrival.complete_at = Some(now);
        }
    }

    /// What has come of a frame.
    pub fn arrival(&self, frame: u64) -> FrameArrival {
        self.frames.get(frame as usize).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_units::Duration;

    /// Key frames of five packets, every third frame; two packets in the others; 8 ms of 10 to send a frame.
    fn video() -> Frames {
        Frames {
            interval: Duration::from_millis(10),
            packet_size: 1000,
            packets: 2,
            key_every: Some(3),
            key_packets: Some(5),
            spread: Duration::from_millis(8),
            duration: None,
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn every_packet_belongs_to_the_frame_that_it_leaves_with() {
        for plan in [video(), Frames { key_every: None, key_packets: None, ..video() }] {
            let mut source = FrameSource::new(&plan, at(3), at(73));
            let numbering = source.numbering();
            let mut of_frame = vec![0; 7];
            while let Some(now) = source.deadline() {
                let frame = source.frames();
                if source.count_if_due(now) {
                    assert_eq!(numbering.frame_of(source.sent() - 1), frame);
                    assert!(source.captured_at(frame) <= now);
                    assert!(now < source.captured_at(frame) + plan.spread);
                    of_frame[frame as usize] += 1;
                }
            }
            let wanted: Vec<u64> = (0..7).map(|frame| numbering.packets(frame)).collect();
            assert_eq!(of_frame, wanted, "no frame begins 70 ms after the first");
            assert!(source.is_finished());
        }
    }

    #[test]
    fn a_frame_that_has_begun_leaves_whole() {
        let mut source = FrameSource::new(&video(), at(0), at(4));
        while let Some(now) = source.deadline() {
            source.count_if_due(now);
        }
        assert_eq!((source.sent(), source.frames()), (5, 1));
    }

    #[test]
    fn a_frame_is_whole_with_its_last_packet_in_whatever_order() {
        let mut sink = FrameSink::new(Numbering::new(&video()));
        for (ms, packet) in [(1, 4), (2, 0), (3, 3), (4, 6), (5, 1), (6, 2), (9, 8)] {
            sink.receive(at(ms), packet);
        }
        let arrivals: Vec<_> =
            (0..4).map(|k| sink.arrival(k)).map(|found| (found.received, found.complete_at)).collect();
        // 0 to 4 are the key frame's, 5 and 6 the second one's, 7 and 8 the third one's.
        assert_eq!(arrivals, [(5, Some(at(6))), (1, None), (1, None), (0, None)]);
    }
}
