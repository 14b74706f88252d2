//! How long a silent peer is waited for (RFC 9293 §3.8.3).

use crate::script::Script;
use crate::script::configs::plain;
use ropewalk_tcp::{CloseReason, Config, Event, State};
use ropewalk_units::{Duration, Instant};

/// When a connection to a silent peer ends, from now on.
fn time_until_closed(s: &mut Script) -> Duration {
    let mut now = Instant::ZERO;
    while s.tcp.state() != State::Closed {
        (now, _) = s.tcp.poll_timeout().expect("a timer runs until the end");
        s.tcp.handle_timeout(now);
        while s.tcp.poll_transmit(now).is_some() {}
    }
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));
    now.saturating_since(Instant::ZERO + Duration::from_millis(119))
}

#[test]
fn each_timeout_is_told_before_the_connection_ends() {
    let mut s = Script::established(Config { max_retransmissions: 2, ..plain() });
    s.events();
    s.run("push 100\n > . 1:101\n +200 > . 1:101\n +400 > . 1:101\n +800 > nothing");
    let told: Vec<u32> = s.events().iter().filter_map(timeout).collect();
    assert_eq!(told, [1, 2]);
}

fn timeout(event: &Event) -> Option<u32> {
    if let Event::TimeoutFired { consecutive, .. } = event { Some(*consecutive) } else { None }
}

#[test]
fn both_presets_wait_for_a_hundred_seconds_and_more() {
    for preset in [Config::linux(), Config::classic()] {
        let mut s = Script::established(preset);
        s.run("push 1000");
        assert!(time_until_closed(&mut s) >= Duration::from_secs(100));
    }
}

#[test]
fn the_classic_preset_repeats_its_syn_for_three_minutes() {
    let mut s = Script::connect(Config::classic());
    assert!(time_until_closed(&mut s) >= Duration::from_secs(180));
}
