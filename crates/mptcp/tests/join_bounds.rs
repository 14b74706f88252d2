//! What a hostile peer costs: memory and work that do not grow with how often it tries.

#[path = "packets/script/mod.rs"]
#[expect(dead_code, reason = "a part of the harness is enough here")]
mod script;

use ropewalk_mptcp::{Connection, Path, SubflowId, keys};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{AddAddress, Flags, Join, Key, MptcpOption, Nonce, Segment, Token};
use script::{PEER_KEY, Script, address, config};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is counted is of the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

const ATTEMPTS: u32 = 20_000;
/// The random number of every join here.
const NONCE: Nonce = 7;
const ISS: Seq = Seq::new(1000);

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Octets that are held now and were not when the region began.
fn held(region: &Region<'_, System>) -> isize {
    let change = region.change();
    change.bytes_allocated as isize - change.bytes_deallocated as isize
}

/// A connection that was accepted, and its key.
fn server() -> (Script, Key) {
    let mut script = Script::accept(config(), "S 0:1 win 60000 mss 1024 sackok capable");
    let out = script.take_out();
    let key = out[0].1.options.mptcp.rare().iter().find_map(|option| match option {
        MptcpOption::Capable { sender_key, .. } => *sender_key,
        _ => None,
    });
    script.run("+20 0 < . 1:1 ack 1 win 60000 capable");
    script.take_out();
    script.events();
    (script, key.expect("the SYN/ACK has the key"))
}

fn syn(token: Token) -> Segment {
    let mut syn = Segment { seq: ISS, flags: Flags::SYN, window: 60_000, ..Segment::default() };
    syn.options.mptcp.push(MptcpOption::Join(Join::Syn {
        backup: false,
        address_id: 9,
        token,
        nonce: NONCE,
    }));
    syn
}

fn path(remote: SocketAddr) -> Path {
    Path { local: address(0, 2, 5001), remote }
}

/// A remote end of the attacker's: one address, a port of its own for each attempt.
fn attacker(attempt: u32) -> Path {
    path(address(66, 6, 1024 + (attempt % 60_000) as u16))
}

/// Polls what there is; how many segments and events that were.
fn drain(connection: &mut Connection, now: Instant) -> (Vec<Segment>, u32) {
    let segments = std::iter::from_fn(|| connection.poll_transmit(now)).map(|(_, segment)| segment).collect();
    let events = std::iter::from_fn(|| connection.poll_event()).count() as u32;
    (segments, events)
}

#[test]
fn joins_that_are_begun_and_reset_leave_nothing_behind() {
    let _alone = alone();
    let (mut script, key) = server();
    let (now, syn) = (script.now, syn(keys::token(key)));
    let region = Region::new(ALLOCATOR);
    for attempt in 0..ATTEMPTS {
        let id = script.connection.accept_join(now, attacker(attempt), &syn, ISS).expect("there is a place");
        drain(&mut script.connection, now);
        let rst = Segment { seq: ISS + 1, flags: Flags::RST, ..Segment::default() };
        script.connection.handle_segment(now, id, &rst);
        drain(&mut script.connection, now);
    }
    assert!(held(&region) < 512 * 1024, "{} octets are held", held(&region));
    assert!(script.connection.subflows().count() <= 64);
    assert!(script.connection.subflow(SubflowId(ATTEMPTS / 2)).is_none(), "forgotten");
    let (now, syn) = (script.now, self::syn(keys::token(key)));
    assert!(
        script.connection.accept_join(now, path(address(7, 7, 1024)), &syn, ISS).is_ok(),
        "an honest one gets in"
    );
}

#[test]
fn joins_that_never_finish_do_not_keep_an_honest_one_out() {
    let _alone = alone();
    let (mut script, key) = server();
    let (mut now, syn) = (script.now, syn(keys::token(key)));
    let honest = path(address(7, 7, 1024));
    let region = Region::new(ALLOCATOR);
    let mut begin = |script: &mut Script, attempts: std::ops::Range<u32>| {
        for attempt in attempts {
            script.connection.accept_join(now, attacker(attempt), &syn, ISS).expect("there is a place");
            drain(&mut script.connection, now);
            now += Duration::from_micros(10);
        }
        now
    };
    begin(&mut script, 0..ATTEMPTS / 2);
    let id = script.connection.accept_join(script.now, honest, &syn, ISS).expect("there is a place");
    let (sent, _) = drain(&mut script.connection, script.now);
    let answer = sent.iter().find(|segment| segment.flags.contains(Flags::SYN)).expect("a SYN/ACK");
    let (iss, nonce) = (answer.seq, nonce_of(answer));
    let now = begin(&mut script, ATTEMPTS / 2..ATTEMPTS);
    let hmac = keys::leftmost_160(&keys::join_hmac(PEER_KEY, key, NONCE, nonce));
    let mut third =
        Segment { seq: ISS + 1, ack: iss + 1, flags: Flags::ACK, window: 60_000, ..Segment::default() };
    third.options.mptcp.push(MptcpOption::Join(Join::Ack { hmac }));
    script.connection.handle_segment(now, id, &third);
    assert!(script.connection.subflow(id).is_some_and(ropewalk_mptcp::Subflow::is_usable), "kept out");
    drain(&mut script.connection, now);
    assert!(held(&region) < 512 * 1024, "{} octets are held", held(&region));
    let half_open = script.connection.subflows().filter(|subflow| !subflow.is_closed()).count() - 2;
    assert!(half_open <= 16, "{half_open} joins wait");
}

#[test]
fn joins_that_never_finish_expire() {
    let _alone = alone();
    let (mut script, key) = server();
    for attempt in 0..10 {
        script
            .connection
            .accept_join(script.now, attacker(attempt), &syn(keys::token(key)), ISS)
            .expect("a place");
    }
    let mut answers = drain(&mut script.connection, script.now).0.len();
    while let Some((at, _)) = script.connection.poll_timeout() {
        script.connection.handle_timeout(at);
        answers += drain(&mut script.connection, at).0.len();
        assert!(at < script.now + Duration::from_secs(300), "still waiting");
    }
    assert_eq!(script.connection.subflows().filter(|subflow| !subflow.is_closed()).count(), 1);
    assert!(answers < 100, "{answers} SYN/ACKs to nobody");
}

#[test]
fn announcements_cost_bounded_memory_and_bounded_echoes() {
    let _alone = alone();
    let (mut script, key) = server();
    let now = script.now;
    let mut ack = Segment { flags: Flags::ACK, window: 60_000, ..Segment::default() };
    (ack.seq, ack.ack) = (script.ends[0].irs + 1, script.ends[0].iss + 1);
    let region = Region::new(ALLOCATOR);
    for n in 0..100_000u32 {
        let (address_id, address) = (n as u8, IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + n)));
        let hmac = keys::address_hmac(PEER_KEY, key, address_id, address, None);
        let mut segment = ack.clone();
        segment.options.mptcp.push(MptcpOption::AddAddress(AddAddress {
            address_id,
            address,
            port: None,
            hmac: Some(hmac),
        }));
        script.connection.handle_segment(now, SubflowId(0), &segment);
    }
    assert!(held(&region) < 1024 * 1024, "{} octets are held", held(&region));
    let (segments, events) = drain(&mut script.connection, now);
    assert!(segments.len() <= 32, "{} echoes", segments.len());
    assert!(events <= 4096 + 64, "{events} events");
}

fn nonce_of(segment: &Segment) -> Nonce {
    let nonce = segment.options.mptcp.rare().iter().find_map(|option| match option {
        MptcpOption::Join(Join::SynAck { nonce, .. }) => Some(*nonce),
        _ => None,
    });
    nonce.expect("a SYN/ACK with MP_JOIN")
}
