//! A blind attacker knows addresses and ports, and no number of TCP's. Whatever it sends: the streams arrive.

use crate::settings::Settings;
use ropewalk_adversary::{Reason, must_accept};
use ropewalk_testnet::attack::{Attack, LIMIT, Tally, connections, first_seed, number, patience};
use ropewalk_testnet::{Network, Stack, TcpHost};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{Flags, Payload, Segment, Timestamps};

fn victim(network: &Network<TcpHost>, side: usize) -> ropewalk_adversary::Victim {
    network.host(side).victim(0, network.host(1 - side))
}

fn inject(network: &mut Network<TcpHost>, side: usize, segment: &Segment) {
    let path = network.host(side).sockets()[0];
    network.inject(side, path, segment.clone());
}

fn is_over(network: &Network<TcpHost>) -> bool {
    network.over.is_some()
}

/// When everything was over without an attacker.
fn in_peace(settings: &Settings) -> Option<Instant> {
    let mut network = settings.network();
    network.run_while(LIMIT, |network| !is_over(network));
    network.over
}

/// One connection under attack.
fn life(seed: u64) -> Tally {
    let settings = Settings::draw(seed);
    // An honest path may lose every try.
    let Some(peace) = in_peace(&settings) else { return Tally::default() };
    let mut network = settings.network();
    let mut attack = Attack::new(seed);
    attack.run(&mut network, settings.octets.iter().sum());
    let Some(over) = network.over else {
        panic!("seed {seed}: not over at {}: {settings:?}\n{:#?}", network.now(), network.hosts())
    };
    for (host, octets) in network.hosts().iter().zip([settings.octets[1], settings.octets[0]]) {
        assert_eq!(host.application().received, octets, "seed {seed}: the honest stream, and nothing else");
    }
    let allowed = peace.saturating_since(Instant::ZERO) * 10 + patience(&settings.lines);
    assert!(over <= Instant::ZERO + allowed, "seed {seed}: over at {over}, in peace at {peace}");
    attack.pursue(&mut network);
    network.run(LIMIT);
    assert!(network.is_at_rest(), "seed {seed}: it does not come to rest");
    attack.tally
}

/// A share of the connections.
fn lives(part: u64, parts: u64) {
    let (connections, first) = (connections(), first_seed());
    let mut tally = Tally::default();
    for seed in (part..connections).step_by(parts as usize) {
        tally.add(life(first + seed));
    }
    println!("{} segments, left out: {:?}", tally.shots(), tally.left_out);
    tally.judge(connections / parts);
}

#[test]
fn a_blind_attacker_changes_nothing_1() {
    lives(0, 2);
}

#[test]
fn a_blind_attacker_changes_nothing_2() {
    lives(1, 2);
}

/// For a seed that failed: `ROPEWALK_SEED=… cargo test -p ropewalk-tcp --test adversary one_seed`.
#[test]
fn one_seed() {
    life(number("ROPEWALK_SEED").unwrap_or(3));
}

/// A found one. The peer's delayed ACKs make round trips exactly as long as the least RTO, and the attacker causes the first
/// timeout. It must not be followed by one for every segment.
#[test]
fn one_timeout_does_not_lead_to_the_next() {
    life(7_788_115_771_804_099_970);
}

/// RFC 7323 §5.3 R3 with RFC 5961 §5: a segment whose acknowledgement is not acceptable does not move TS.Recent, or
/// one guessed SEQ would make every honest segment look old.
#[test]
fn a_segment_with_an_unacceptable_ack_does_not_move_the_recent_timestamp() {
    let settings = Settings::draw(3);
    let mut configs = settings.configs.clone();
    configs.iter_mut().for_each(|config| config.timestamps = true);
    let mut network = Settings { configs, octets: [150_000, 0], ..settings }.network();
    network.watch();
    let mut struck = false;
    while !is_over(&network) && network.step(LIMIT) {
        let victim = victim(&network, 1);
        if !struck && network.host(1).application().received > 10_000 {
            struck = true;
            let known = network.host(1).knowledge(0).timestamps.expect("on");
            let value = known.value.wrapping_add(1 << 30);
            let mut shot = Segment {
                seq: victim.rcv_nxt,
                ack: victim.snd_nxt + 1_000_000,
                flags: Flags::ACK,
                payload: Payload { offset: 1 << 41, len: 10 },
                ..Segment::default()
            };
            shot.options.timestamps = Some(Timestamps { value, echo: 0 });
            inject(&mut network, 1, &shot);
            shot.flags = Flags::NONE;
            shot.seq = Seq::new(self::victim(&network, 1).rcv_nxt.get());
            inject(&mut network, 1, &shot);
        }
    }
    assert!(struck && is_over(&network), "not over at {}", network.now());
}

/// The oracle's reasons are those that happen, and each of them is needed: without it an honest stream breaks.
#[test]
fn what_is_left_out_would_break_a_connection() {
    let settings = Settings { octets: [60_000, 0], ..Settings::draw(3) };
    let mut network = settings.network();
    while network.host(1).application().received < 10_000 {
        assert!(network.step(LIMIT));
    }
    let victim = victim(&network, 1);
    let reset = Segment { seq: victim.rcv_nxt, flags: Flags::RST, ..Segment::default() };
    assert_eq!(must_accept(&victim, &reset), Some(Reason::Reset));
    inject(&mut network, 1, &reset);
    network.run(LIMIT);
    assert!(!is_over(&network));
}
