//! What a segment costs: sending it, taking it in order, and processing the ACK of two, in nanoseconds.
//!
//! Two established connections pass segments directly, with no network between: one round sends a window, delivers
//! it, and delivers the ACKs. The least time over many rounds counts, so that a busy machine disturbs little.
#![expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]

use ropewalk_tcp::{Config, Connection};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Payload, Segment};

const WINDOW: u32 = 40;
const ROUNDS: u32 = 40_000;

struct Bench {
    now: Instant,
    client: Connection,
    server: Connection,
    offset: u64,
    segments: Vec<Segment>,
    acks: Vec<Segment>,
}

impl Bench {
    fn new(config: Config) -> Self {
        let now = Instant::ZERO + Duration::from_millis(1);
        let mut client = Connection::connect(config.clone(), Seq::new(1), now);
        let syn = client.poll_transmit(now).expect("a SYN");
        let mut server = Connection::accept(config, &syn, Seq::new(2), now);
        let answer = server.poll_transmit(now).expect("a SYN/ACK");
        client.handle_segment(now, &answer);
        let ack = client.poll_transmit(now).expect("an ACK");
        server.handle_segment(now, &ack);
        Self { now, client, server, offset: 0, segments: Vec::new(), acks: Vec::new() }
    }

    fn send(&mut self) {
        let smss = self.client.smss();
        let window = (self.client.cwnd_space() / smss).min(WINDOW);
        for _ in 0..window {
            self.client.push(Payload { offset: self.offset, len: smss });
            self.offset += u64::from(smss);
        }
        while let Some(segment) = self.client.poll_transmit(self.now) {
            self.segments.push(segment);
        }
        std::hint::black_box(self.client.poll_timeout());
    }

    fn receive(&mut self) {
        for segment in self.segments.drain(..) {
            self.server.handle_segment(self.now, &segment);
            while self.server.read(u64::MAX).is_some() {}
            while let Some(ack) = self.server.poll_transmit(self.now) {
                self.acks.push(ack);
            }
            std::hint::black_box(self.server.poll_timeout());
        }
    }

    fn acknowledge(&mut self) {
        for ack in self.acks.drain(..) {
            self.client.handle_segment(self.now, &ack);
            assert!(
                self.client.poll_transmit(self.now).is_none(),
                "the window has room, the stream is empty"
            );
            std::hint::black_box(self.client.poll_timeout());
        }
    }

    /// Whatever a delayed ACK held back.
    fn settle(&mut self) {
        self.now += Duration::from_secs(1);
        self.server.handle_timeout(self.now);
        while let Some(ack) = self.server.poll_transmit(self.now) {
            self.client.handle_segment(self.now, &ack);
        }
    }
}

fn main() {
    for (name, config) in [("linux", Config::linux()), ("classic", Config::classic())] {
        let mut bench = Bench::new(Config { idle_restart: false, initial_window: 4 * WINDOW, ..config });
        let mut best = [f64::MAX; 3];
        for _ in 0..ROUNDS {
            let start = std::time::Instant::now();
            bench.send();
            let after_send = std::time::Instant::now();
            bench.now += Duration::from_millis(1);
            let segments = bench.segments.len();
            bench.receive();
            let after_receive = std::time::Instant::now();
            let acks = bench.acks.len();
            bench.now += Duration::from_millis(1);
            bench.acknowledge();
            let end = std::time::Instant::now();
            bench.settle();
            let costs = [
                (after_send - start, segments),
                (after_receive - after_send, segments),
                (end - after_receive, acks),
            ];
            for (best, (time, count)) in best.iter_mut().zip(costs) {
                *best = best.min(time.as_nanos() as f64 / count as f64);
            }
        }
        let [send, receive, acknowledge] = best;
        println!(
            "{name}: send {send:.1} ns per segment, receive {receive:.1} ns per segment, \
             acknowledge {acknowledge:.1} ns per ACK ({} octets inline)",
            size_of::<Connection>(),
        );
    }
}
