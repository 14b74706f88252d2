//! The rules of the air, checked from outside: from the record of all frames, the positions and the
//! standard, without the state of the MACs.

use crate::common::{LONG, Scene, disk, mac, network};
use ropewalk_sim::Streams;
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::phy::{self, Rate, Timing};
use ropewalk_wifi::propagation::{Channel, Overlap, Propagation};
use ropewalk_wifi::{FrameKind, FrameRecord, NetworkConfig, RadioConfig, RouteConfig, StationId};

/// Finds out from the frames on record what each radio must have heard.
pub(crate) struct Listener<'a> {
    config: &'a NetworkConfig,
    frames: &'a [FrameRecord],
    timing: Timing,
    /// In dB, from station to station.
    shadowing: Vec<Vec<f64>>,
}

/// A frame of another radio as it comes to one.
struct Heard<'a> {
    frame: &'a FrameRecord,
    begin: Instant,
    end: Instant,
    is_decodable: bool,
    is_sensed: bool,
    is_noise: bool,
    was_decoded: bool,
}

/// All a radio has heard and sent.
struct Ear<'a> {
    heard: Vec<Heard<'a>>,
    own: Vec<&'a FrameRecord>,
}

impl<'a> Listener<'a> {
    pub(crate) fn new(config: &'a NetworkConfig, seed: u64, frames: &'a [FrameRecord]) -> Self {
        let streams = Streams::new(seed);
        let shadowing = |a: &str| {
            let loss = |b: &str| config.propagation.shadowing_db(&streams, a, b);
            config.stations.iter().map(|station| loss(&station.name)).collect()
        };
        Self {
            config,
            frames,
            timing: config.stations[0].radios[0].mac.standard.timing(),
            shadowing: config.stations.iter().map(|station| shadowing(&station.name)).collect(),
        }
    }

    fn radios(&self) -> impl Iterator<Item = (StationId, u8)> {
        self.config.stations.iter().enumerate().flat_map(|(n, station)| {
            station.radios.iter().map(move |radio| (StationId(n as u32), radio.channel))
        })
    }

    fn ear(&self, at: StationId, on: u8) -> Ear<'a> {
        let (own, others): (Vec<_>, Vec<_>) =
            self.frames.iter().partition(|frame| frame.from == at && frame.channel == on);
        Ear { heard: others.into_iter().map(|frame| self.hear(frame, at, on)).collect(), own }
    }

    fn hear(&self, frame: &'a FrameRecord, at: StationId, on: u8) -> Heard<'a> {
        let place = |station: StationId| self.config.stations[station.0 as usize].position;
        let distance = place(frame.from).distance(place(at));
        let standard = self.config.stations[0].radios[0].mac.standard;
        let channel = |number| Channel::new(standard, number).expect("a channel in use");
        let loss = self.shadowing[frame.from.0 as usize][at.0 as usize];
        let signal = self.config.propagation.signal(distance, loss, channel(frame.channel), channel(on));
        // 299 792 458 m/s.
        let nanos = if self.config.propagation_delay { distance / 0.299_792_458 } else { 0.0 };
        let delay = Duration::from_nanos(nanos.ceil() as u64);
        Heard {
            frame,
            begin: frame.begin + delay,
            end: frame.end + delay,
            is_decodable: signal.is_decodable,
            is_sensed: signal.is_sensed || signal.is_decodable,
            is_noise: signal.power_mw > 0.0,
            was_decoded: frame.channel == on && frame.decoded_by.contains(&at),
        }
    }

    fn eifs(&self) -> Duration {
        phy::eifs(self.config.stations[0].radios[0].mac.standard)
    }

    /// How long an RTS reserves the medium at least: if nothing follows, two SIFS, a CTS, the
    /// beginning of a reception and two slots (IEEE 802.11-2020 §10.3.2.4).
    fn reserved(&self, frame: &FrameRecord) -> Duration {
        if frame.kind != FrameKind::Rts {
            return frame.reserved;
        }
        let mac = &self.config.stations[0].radios[0].mac;
        let rate = mac.control_rate.unwrap_or_else(|| phy::control_rate(mac.basic_rates, frame.rate));
        let cts = phy::ppdu_duration(mac.standard, rate, phy::CTS);
        let preamble = phy::preamble_duration(mac.standard, rate);
        let Timing { sifs, slot, .. } = self.timing;
        frame.reserved.min(sifs + sifs + cts + preamble + slot + slot)
    }
}

impl Ear<'_> {
    /// A SIFS after a frame for this radio was decoded its answer is due, whatever the medium is
    /// like.
    fn is_response(&self, frame: &FrameRecord, sifs: Duration) -> bool {
        let asked = match frame.kind {
            FrameKind::Ack => FrameKind::Data,
            FrameKind::Cts => FrameKind::Rts,
            FrameKind::Data => FrameKind::Cts,
            FrameKind::Rts => return false,
        };
        self.heard.iter().any(|heard| {
            heard.was_decoded
                && heard.frame.kind == asked
                && heard.frame.to == Some(frame.from)
                && Some(heard.frame.from) == frame.to
                && heard.end + sifs == frame.begin
        })
    }

    /// The end of the busy period that `end` falls into or ends.
    fn idle_after(&self, mut end: Instant) -> Instant {
        let sensed = || self.heard.iter().filter(|heard| heard.is_sensed);
        while let Some(longer) = sensed().find(|heard| heard.begin < end && heard.end > end) {
            end = longer.end;
        }
        end
    }

    /// Has the radio locked on to this frame for sure? It has if this is the first preamble that it
    /// could decode, or one of several in the same instant, while nothing else is on the air and
    /// the radio does not send.
    fn has_locked_on(&self, heard: &Heard) -> bool {
        let is_silent = self.own.iter().all(|own| own.end < heard.begin || own.begin > heard.end);
        let is_first = |other: &Heard| {
            let is_over = other.end < heard.begin || other.begin > heard.begin;
            is_over || !other.is_noise || (other.begin == heard.begin && other.is_decodable)
        };
        heard.is_decodable && is_silent && self.heard.iter().all(is_first)
    }

    /// The frames before `until` that the radio had locked on to and lost, if it has neither
    /// decoded nor sent one since. From the end of the busy period on it must wait for EIFS.
    fn out_of_step(&self, until: Instant) -> impl Iterator<Item = &Heard<'_>> {
        self.heard.iter().filter(move |heard| {
            let is_later = |time: Instant| heard.begin < time && time <= until;
            heard.end <= until
                && !heard.was_decoded
                && self.has_locked_on(heard)
                && !self.heard.iter().any(|other| other.was_decoded && is_later(other.end))
                && !self.own.iter().any(|own| own.begin < until && is_later(own.end))
        })
    }
}

/// How often a frame had to wait for DIFS after others, for the NAV, and for EIFS.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Waits {
    sensed: u32,
    reserved: u32,
    eifs: u32,
}

/// No radio begins a frame of its own while others have the medium, within DIFS, against its NAV,
/// or within EIFS after a frame it could not decode.
pub(crate) fn nobody_sends_who_must_defer(listener: &Listener) -> Waits {
    let mut waits = Waits::default();
    for (station, channel) in listener.radios() {
        let ear = listener.ear(station, channel);
        for frame in &ear.own {
            if !ear.is_response(frame, listener.timing.sifs) {
                assert!(matches!(frame.kind, FrameKind::Data | FrameKind::Rts), "{frame:?} answers nothing");
                had_the_right(listener, &ear, frame, &mut waits);
            }
        }
    }
    waits
}

fn had_the_right(listener: &Listener, ear: &Ear, frame: &FrameRecord, waits: &mut Waits) {
    let difs = listener.timing.difs;
    for own in ear.own.iter().filter(|own| own.begin < frame.begin) {
        assert!(own.end + difs <= frame.begin, "{frame:?} begins within DIFS of {own:?}");
    }
    for heard in &ear.heard {
        if heard.is_sensed && heard.begin < frame.begin {
            waits.sensed += 1;
            assert!(heard.end + difs <= frame.begin, "{frame:?} begins within DIFS of {:?}", heard.frame);
        }
        if heard.was_decoded && heard.end <= frame.begin && heard.frame.to != Some(frame.from) {
            waits.reserved += 1;
            let free = heard.end + listener.reserved(heard.frame) + difs;
            assert!(free <= frame.begin, "{frame:?} against the NAV of {:?}", heard.frame);
        }
    }
    for lost in ear.out_of_step(frame.begin) {
        waits.eifs += 1;
        let free = ear.idle_after(lost.end) + listener.eifs();
        assert!(free <= frame.begin, "{frame:?} begins within EIFS of {:?}", lost.frame);
    }
}

/// A radio receives one frame at a time, none while it sends, none of another channel, and on
/// destructive disks none that met another.
pub(crate) fn on_one_radio_one_frame_at_a_time(listener: &Listener) {
    for (station, channel) in listener.radios() {
        let ear = listener.ear(station, channel);
        for (place, own) in ear.own.iter().enumerate() {
            for other in &ear.own[..place] {
                assert!(other.end <= own.begin, "{own:?} and {other:?} from one radio");
            }
        }
        for (place, heard) in ear.heard.iter().enumerate().filter(|(_, heard)| heard.was_decoded) {
            assert!(heard.is_decodable, "{:?} out of reach of {station:?} on {channel}", heard.frame);
            let meets = |begin: Instant, end: Instant| begin < heard.end && heard.begin < end;
            for own in &ear.own {
                assert!(!meets(own.begin, own.end), "{:?} heard while sending {own:?}", heard.frame);
            }
            for (_, other) in ear.heard.iter().enumerate().filter(|(other, _)| *other != place) {
                if !meets(other.begin, other.end) {
                    continue;
                }
                let (a, b) = (heard.frame, other.frame);
                assert!(!other.was_decoded, "{a:?} and {b:?} at once at {station:?}");
                let is_destroyed = matches!(&listener.config.propagation,
                    Propagation::Disk(disk) if disk.overlap == Overlap::DestroysAll && other.is_noise);
                assert!(!is_destroyed, "{a:?} received at {station:?} over {b:?}");
            }
        }
    }
}

/// A frame of 500 µs on channel 1, times in µs.
fn record(from: u32, to: u32, begin: u64, decoded_by: &[u32]) -> FrameRecord {
    FrameRecord {
        begin: Instant::from_nanos(begin * 1_000),
        end: Instant::from_nanos((begin + 500) * 1_000),
        from: StationId(from),
        channel: 1,
        to: Some(StationId(to)),
        kind: FrameKind::Data,
        rate: Rate::Mbps11,
        octets: 300 + phy::DATA_OVERHEAD,
        reserved: Duration::from_micros(213),
        is_retry: false,
        decoded_by: decoded_by.iter().copied().map(StationId).collect(),
    }
}

fn is_caught(config: &NetworkConfig, frames: &[FrameRecord]) -> bool {
    let check = || nobody_sends_who_must_defer(&Listener::new(config, 1, frames));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
}

#[test]
fn a_deferring_station_is_caught_by_the_check() {
    // Three stations that sense each other, and DIFS of 50 µs.
    let config = network(disk(20.0, 40.0), &mac(), &[(0.0, 0.0), (25.0, 0.0), (30.0, 0.0)]);
    let caught = |frames: &[FrameRecord]| is_caught(&config, frames);
    assert!(!caught(&[record(0, 2, 0, &[]), record(1, 2, 550, &[])]));
    assert!(!caught(&[record(0, 2, 0, &[]), record(1, 2, 0, &[])]), "in the same instant they cannot know");
    assert!(caught(&[record(0, 2, 0, &[]), record(1, 2, 540, &[])]));
    assert!(caught(&[record(0, 2, 0, &[]), record(1, 2, 1, &[])]));
    // NAV: decoded, it reserves 213 µs beyond its end.
    assert!(caught(&[record(1, 0, 0, &[2]), record(2, 1, 762, &[])]));
    assert!(!caught(&[record(1, 0, 0, &[2]), record(2, 1, 763, &[])]));
}

#[test]
fn a_station_that_does_not_wait_for_eifs_is_caught_by_the_check() {
    // 1 and 2 receive each other, 0 they only sense. EIFS is 10 + 304 + 50 µs.
    let config = network(disk(20.0, 40.0), &mac(), &[(0.0, 0.0), (25.0, 0.0), (30.0, 0.0)]);
    let caught = |frames: &[FrameRecord]| is_caught(&config, frames);
    assert_eq!(phy::eifs(LONG), Duration::from_micros(364));
    assert!(caught(&[record(1, 0, 0, &[]), record(2, 1, 863, &[])]));
    assert!(!caught(&[record(1, 0, 0, &[]), record(2, 1, 864, &[])]));
    // Only sensed: DIFS.
    assert!(!caught(&[record(0, 1, 0, &[]), record(2, 1, 550, &[])]));
    // It counts from the end of the busy period.
    let longer = FrameRecord { end: Instant::from_nanos(800_000), ..record(0, 1, 0, &[]) };
    assert!(caught(&[record(1, 0, 0, &[]), longer.clone(), record(2, 1, 1_163, &[])]));
    assert!(!caught(&[record(1, 0, 0, &[]), longer, record(2, 1, 1_164, &[])]));
    // A frame that is decoded ends it.
    let decoded = FrameRecord { reserved: Duration::ZERO, ..record(1, 0, 600, &[2]) };
    assert!(!caught(&[record(1, 0, 0, &[]), decoded, record(2, 1, 1_150, &[])]));
}

#[test]
fn collisions_of_hidden_terminals_make_the_station_between_them_wait_for_eifs() {
    // On two channels, with two radios each: the outer stations do not sense each other, the middle
    // one answers both.
    let mut config = network(disk(20.0, 20.0), &mac(), &[(0.0, 0.0), (15.0, 0.0), (30.0, 0.0)]);
    for station in &mut config.stations {
        let other = RadioConfig { channel: 6, ..station.radios[0].clone() };
        station.radios.push(other);
    }
    let mut scene = Scene::new(&config, 7);
    for channel in [1, 6] {
        for way in [[0, 1], [2, 1], [1, 0]] {
            let stations = way.map(StationId).to_vec();
            let (_, port) = scene.route_over(&RouteConfig { stations, channels: vec![channel] });
            scene.send(way[0], port, Instant::from_nanos(u64::from(channel)), 1_000, 500);
        }
    }
    scene.world.touch_medium(|network, _| network.watch());
    scene.run_until(1.0);
    let frames = scene.world.touch_medium(|network, _| network.take_frames());
    let listener = Listener::new(&config, 7, &frames);
    on_one_radio_one_frame_at_a_time(&listener);
    let Waits { sensed, reserved, eifs } = nobody_sends_who_must_defer(&listener);
    assert!(sensed > 1_000 && reserved > 1_000 && eifs > 50, "{sensed} {reserved} {eifs}");
}
