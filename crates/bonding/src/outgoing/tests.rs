use super::*;

fn at(micros: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(micros)
}

/// A path of 12 Mbit/s (1500 octets take 1 ms) and 10 ms, played by hand.
struct Line {
    path: Outgoing,
    report: PathReport,
    free_at: u64,
}

impl Line {
    fn new() -> Self {
        Self {
            path: Outgoing::new(PathId(0), at(0), false, false),
            report: PathReport::default(),
            free_at: 0,
        }
    }

    /// Sends a packet; when it will have arrived.
    fn send(&mut self, now: u64) -> u64 {
        self.path.on_sent(at(now), 1500, GlobalSeq::new(0));
        self.free_at = self.free_at.max(now) + 1000;
        self.free_at + 10_000
    }

    /// It arrives.
    fn receive(&mut self, sent: u64, arrived: u64) {
        let delay = (arrived - sent) as u32;
        self.report.least_delay =
            if self.report.is_fresh { self.report.least_delay.min(delay) } else { delay };
        self.report.most_delay = if self.report.is_fresh { self.report.most_delay.max(delay) } else { delay };
        self.report.next = self.report.next.next();
        self.report.received_packets += 1;
        self.report.received_bytes += 1500;
        (self.report.arrived_at, self.report.delay) = (arrived as u32, delay);
        self.report.is_fresh = true;
    }

    fn tell(&mut self, now: u64) -> Progress {
        let progress = self.path.on_report(at(now), &self.report, i64::from);
        self.report.is_fresh = false;
        progress
    }

    /// Sends a packet, of which the peer says that it is lost, as so many were.
    fn lose(&mut self, now: u64, lost: u32) {
        self.path.on_sent(at(now), 1500, GlobalSeq::new(0));
        (self.report.next, self.report.lost_packets) = (self.path.next, lost);
        self.tell(now + 50_000);
    }

    /// One packet each `interval` µs for a second, reports each 20 ms that take 10 ms.
    fn run(&mut self, interval: u64) {
        let mut under_way = std::collections::VecDeque::new();
        for now in 0..1_000_000 {
            if now % interval == 0 {
                let arrival = self.send(now);
                under_way.push_back((now, arrival));
            }
            while under_way.front().is_some_and(|&(_, arrival)| arrival + 10_000 <= now) {
                let (sent, arrival) = under_way.pop_front().expect("it is there");
                self.receive(sent, arrival);
            }
            if now % 20_000 == 0 {
                self.tell(now);
            }
        }
    }
}

#[test]
fn a_busy_path_shows_its_rate_and_its_queue() {
    let mut line = Line::new();
    // 10 % more than it carries: after a second, 100 packets wait.
    line.run(910);
    let rate = line.path.delivery_rate().as_mbps();
    assert!((11.8..12.2).contains(&rate), "{rate} Mbit/s");
    let queue = line.path.queueing_delay(at(1_000_000)).as_secs_f64() * 1e3;
    let real = (line.free_at - 1_000_000) as f64 / 1e3;
    assert!((queue - real).abs() < 3.0, "{queue} ms, really {real} ms");
}

#[test]
fn a_path_that_is_never_busy_is_not_taken_for_slow() {
    let mut line = Line::new();
    line.run(1100);
    assert_eq!(line.path.delivery_rate(), Rate::ZERO, "nothing was measured");
    assert!(line.path.is_tried());
    assert!(line.path.rate() > 12e6, "{} bit/s", line.path.rate());
    assert!(line.path.queueing_delay(at(1_000_000)) < Duration::from_millis(2));
    assert_eq!(line.path.queue_limit(), i64::MAX / 4, "no loss, no limit");
}

#[test]
fn an_unknown_path_gets_an_initial_window() {
    let mut line = Line::new();
    for sent in 0..10 {
        assert!(line.path.has_room(at(sent), i64::MAX), "after {sent}");
        line.send(sent);
    }
    assert!(!line.path.has_room(at(10), i64::MAX));
}

#[test]
fn losses_with_a_queue_show_its_limit_and_those_without_are_random() {
    let mut line = Line::new();
    // The last of these waited 19 ms.
    let arrivals: Vec<u64> = (0..20).map(|_| line.send(0)).collect();
    arrivals.iter().for_each(|&arrival| line.receive(0, arrival));
    line.report.next = line.report.next.next();
    line.path.on_sent(at(0), 1500, GlobalSeq::new(0));
    line.report.lost_packets = 1;
    let progress = line.tell(50_000);
    assert_eq!(
        progress,
        Progress { lost_packets: 1, lost_bytes: 1500, sent_packets: 21, sent_bytes: 21 * 1500 }
    );
    let limit = line.path.queue_limit() as f64 / 1e6;
    // Nine tenths of 19 ms, less a packet's own transmission at the rate assumed as yet.
    assert!((limit - 0.9 * (19.0 - 0.4)).abs() < 0.01, "{limit} ms");
    assert_eq!(line.path.random_loss(), 0.0);

    let mut line = Line::new();
    line.lose(0, 1);
    line.lose(300_000, 2);
    assert_eq!(line.path.random_loss(), 0.0, "nothing is known of the path yet");
    let mut line = Line::new();
    line.run(1100);
    line.lose(1_000_000, 3);
    assert_eq!(line.path.random_loss(), 0.0, "one event may be chance");
    line.lose(1_300_000, 4);
    assert!(line.path.random_loss() > 0.0);
    assert_eq!(line.path.queue_limit(), i64::MAX / 4);
}

#[test]
fn what_was_lost_when_a_path_died_is_not_held_against_it() {
    let mut line = Line::new();
    let arrival = line.send(0);
    line.receive(0, arrival);
    line.send(0);
    line.path.liveness.state = PathState::Down;
    line.path.set_state(at(300_000), PathState::Suspected);
    (line.report.next, line.report.lost_packets) = (line.report.next.next(), 1);
    assert_eq!(line.tell(900_000).lost_packets, 1, "but it is counted");
    assert_eq!(line.path.random_loss(), 0.0);
}

#[test]
fn the_base_moves_only_while_the_path_is_idle() {
    let mut base = base::BaseDelay::new(at(0));
    base.note(at(0), 5_000, true);
    for second in 1..=60 {
        base.note(at(second * 1_000_000), 9_000, false);
    }
    assert_eq!(base.micros(), 5_000, "our own queue is no base");
    for second in 61..=100 {
        base.note(at(second * 1_000_000), 9_000, true);
    }
    assert_eq!(base.micros(), 9_000, "the path has become longer");
}
