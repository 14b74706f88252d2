//! ADD_ADDR, REMOVE_ADDR and MP_PRIO (RFC 8684 §3.3.8, §3.4).

use crate::script::{Script, address, config};
use ropewalk_mptcp::{Config, Event, Path, PathManager, Scheduler, ScriptedAction, ScriptedStep};
use ropewalk_units::Duration;
use ropewalk_wire::{Flags, Join, MptcpOption, Options};
use std::net::SocketAddr;

/// A server whose path manager announces its second address, and then does `then`.
fn announcer(then: Option<ScriptedAction>) -> Script {
    let step = |at, action| ScriptedStep { at: Duration::from_millis(at), path: 1, action };
    let mut steps = vec![step(1, ScriptedAction::Announce)];
    steps.extend(then.map(|action| step(100, action)));
    let mut config = Config { path_manager: PathManager::Scripted { steps }, ..config() };
    config.add_addr_timeout = Duration::from_secs(1);
    Script::server(config)
}

/// A client that opens a subflow to every address that it hears of.
fn mesh() -> Script {
    Script::client(Config { path_manager: PathManager::FullMesh, ..config() })
}

/// Where the subflows of a script were opened to since the last call.
fn opened(script: &mut Script) -> Vec<SocketAddr> {
    let remote = |event: Event| match event {
        Event::SubflowCreated { path, .. } => Some(path.remote),
        _ => None,
    };
    script.events().into_iter().filter_map(remote).collect()
}

#[test]
fn an_announcement_is_echoed_and_one_with_a_wrong_hmac_is_not() {
    let mut client = Script::client(config());
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         +1 0 < . 1:1 ack 1 win 60000 badadd 4 10.4.0.2
         > nothing",
    );
    let announced = client.events().iter().filter(|e| matches!(e, Event::AddressAnnounced { .. })).count();
    assert_eq!(announced, 1);
}

/// RFC 9293, MUST-46: a peer may announce what it likes; no SYN goes to many hosts, to none, or to port 0.
#[test]
fn an_announced_address_that_no_host_has_is_ignored() {
    for address in ["255.255.255.255", "224.0.0.1", "0.0.0.0", "ff02::1", "::", "10.3.0.2:0"] {
        let mut client = mesh();
        client.run(&format!("+1 0 < . 1:1 ack 1 win 60000 add 3 {address}\n > nothing"));
        assert!(client.events().iter().all(|event| !matches!(event, Event::AddressAnnounced { .. })));
    }
}

#[test]
fn signals_are_no_duplicate_acks() {
    let mut server = Script::server(config());
    server.run("push 9000");
    let _ = server.take_out();
    let mut lines = String::from("+20 0 < . 1:1 ack 1001 win 60000 dack 1000\n");
    for _ in 0..6 {
        lines += "+1 0 < . 1:1 ack 1001 win 60000 prio 0\n";
        lines += "0 < . 1:1 ack 1001 win 60000 dack 1000\n";
    }
    for line in lines.lines() {
        server.run(line);
        let out = server.take_out();
        let again = out.iter().any(|(_, s)| s.payload.len > 0 && s.seq.since(server.ends[0].iss) == 1001);
        assert!(!again, "{line}: taken for a loss");
    }
    assert_eq!(server.connection.subflows().next().expect("there").tcp().stats().retransmissions, 0);
}

#[test]
fn mp_prio_moves_data_to_the_other_subflow() {
    let mut server = Script::server(ropewalk_mptcp::Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.join();
    server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 prio 1");
    let _ = server.take_out();
    server.run("push 5000");
    let out = server.take_out();
    assert!(out.iter().all(|(id, segment)| id.0 == 1 || segment.payload.len == 0), "{out:?}");
    assert!(server.events().iter().any(|e| matches!(e, Event::PriorityChanged { backup: true, .. })));
}

#[test]
fn mp_prio_without_b_takes_it_back() {
    let mut server = Script::server(Config { scheduler: Scheduler::RoundRobin, ..config() });
    server.join();
    server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 prio 1");
    let _ = server.take_out();
    server.run("+1 0 < . 1:1 ack 1 win 60000 dack 0 prio 0");
    let _ = server.take_out();
    server.run("push 5000");
    let out = server.take_out();
    assert!(out.iter().any(|(id, segment)| id.0 == 0 && segment.payload.len > 0), "{out:?}");
    assert!(server.events().iter().any(|e| matches!(e, Event::PriorityChanged { backup: false, .. })));
}

#[test]
fn an_unknown_address_identifier_is_ignored() {
    let mut server = Script::server(config());
    server.join();
    server.run(
        "+1 0 < . 1:1 ack 1 win 60000 remove 77
         +5000 > nothing",
    );
    assert!(server.events().iter().all(|event| !matches!(event, Event::SubflowClosed { .. })));
}

#[test]
fn an_announcement_is_repeated_until_its_echo_comes() {
    let mut server = announcer(None);
    server.pass_until_output(50);
    server.run("0 > . 1:1 ack 1 add 1 10.1.0.2");
    server.pass_until_output(1100);
    server.run(
        "0 > . 1:1 ack 1 add 1 10.1.0.2
         +20 0 < . 1:1 ack 1 win 60000 echo 1 10.1.0.2
         +5000 > nothing",
    );
}

/// As Linux: three times, after an RTO that doubles each time.
#[test]
fn an_announcement_without_an_echo_is_given_up_after_three_repetitions() {
    let mut server = announcer(None);
    server.pass_until_output(50);
    let (mut sent, mut last) = (Vec::new(), server.now);
    for _ in 0..20_000 {
        for (_, segment) in server.take_out() {
            assert!(segment.options.mptcp.rare().iter().any(|o| matches!(o, MptcpOption::AddAddress(_))));
            sent.push(server.now.saturating_since(last).as_millis());
            last = server.now;
        }
        server.run("+1");
    }
    let [_, first, second, third] = sent[..] else { panic!("{sent:?}") };
    assert!((200..=260).contains(&first), "an RTO: {sent:?}");
    assert!(second.abs_diff(2 * first) <= 2 && third.abs_diff(4 * first) <= 4, "{sent:?}");
}

/// The host may look late, for instance because it slept.
#[test]
fn an_announcement_is_given_up_as_well_if_its_time_is_noticed_late() {
    let mut server = announcer(None);
    for _ in 0..4 {
        server.pass_until_output(3_000);
        server.run("0 > . 1:1 ack 1 add 1 10.1.0.2");
    }
    server.now += Duration::from_secs(60);
    server.run("+0 > nothing");
    server.run("+60000 > nothing");
}

#[test]
fn an_announcement_that_waits_for_its_echo_is_not_sent_with_the_next_one() {
    let step =
        |at, path| ScriptedStep { at: Duration::from_millis(at), path, action: ScriptedAction::Announce };
    let path_manager = PathManager::Scripted { steps: vec![step(1, 1), step(5, 0)] };
    let mut server = Script::server(Config { path_manager, ..config() });
    server.run(
        "+1 0 > . 1:1 ack 1 add 1 10.1.0.2
         +4 0 > . 1:1 ack 1 add 0 10.0.0.2
         > nothing",
    );
}

#[test]
fn an_address_is_announced_after_one_data_fin_and_not_after_both() {
    let announced = |line: &str| {
        let mut server = announcer(None);
        server.run("push 100 finish");
        let _ = server.take_out();
        server.run(line);
        let _ = server.take_out();
        server.run("+1");
        let add = |option: &MptcpOption| matches!(option, MptcpOption::AddAddress(_));
        server.take_out().iter().any(|(_, segment)| segment.options.mptcp.rare().iter().any(add))
    };
    assert!(announced("0 < . 1:1 ack 1 win 60000 dack 0"));
    assert!(!announced("0 < . 1:1 ack 1 win 60000 dack 0 map 0 0 1 fin"));
}

#[test]
fn the_removal_of_an_announced_address_is_told_though_no_subflow_uses_it() {
    let mut server = announcer(Some(ScriptedAction::Withdraw));
    server.pass_until_output(50);
    server.run(
        "0 > . 1:1 ack 1 add 1 10.1.0.2
         +20 0 < . 1:1 ack 1 win 60000 echo 1 10.1.0.2",
    );
    server.pass_until_output(200);
    server.run("0 > . 1:1 ack 1 remove 1");
}

#[test]
fn an_identifier_keeps_its_address_until_that_is_removed() {
    let mut client = Script::client(config());
    client.run(
        "+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2
         0 > . 1:1 ack 1 echo 3 10.3.0.2
         +1 0 < . 1:1 ack 1 win 60000 add 3 10.4.0.2
         > nothing
         +1 0 < . 1:1 ack 1 win 60000 remove 3
         +1 0 < . 1:1 ack 1 win 60000 add 3 10.4.0.2
         0 > . 1:1 ack 1 echo 3 10.4.0.2",
    );
}

#[test]
fn an_announcement_without_a_port_means_the_port_in_use_and_another_port_is_another_subflow() {
    let mut client = mesh();
    let _ = opened(&mut client);
    client.run("+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2");
    let _ = client.take_out();
    assert_eq!(opened(&mut client), [address(3, 2, 5001)]);
    client.run("+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2:6000");
    let _ = client.take_out();
    assert_eq!(opened(&mut client), [address(3, 2, 6000)]);
}

#[test]
fn the_first_address_has_the_identifier_0_and_each_other_one_its_own() {
    let paths =
        [0, 1, 3].map(|subnet| Path { local: address(subnet, 1, 40_000), remote: address(0, 2, 5001) });
    let config = Config { path_manager: PathManager::FullMesh, ..config() };
    let mut client = Script::connect_over(config, paths.to_vec());
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 60000 mss 1024 sackok capable
         0 > . 1:1 ack 1 capable
         +1 0 < . 1:1 ack 1 win 60000 dack 0",
    );
    let identifiers: Vec<u8> = client
        .take_out()
        .iter()
        .flat_map(|(_, segment)| segment.options.mptcp.rare().to_vec())
        .filter_map(|option| match option {
            MptcpOption::Join(Join::Syn { address_id, .. }) => Some(address_id),
            _ => None,
        })
        .collect();
    assert_eq!(identifiers, [1, 2]);
}

#[test]
fn an_address_is_removed_by_the_identifier_of_its_join() {
    let mut server = Script::server(config());
    server.join();
    server.run("+1 0 < . 1:1 ack 1 win 60000 remove 1");
    let out = server.take_out();
    assert!(out.iter().any(|(id, segment)| id.0 == 1 && segment.flags.contains(Flags::FIN)), "{out:?}");
    server.run("push 1000");
    let out = server.take_out();
    assert!(out.iter().all(|(id, segment)| id.0 == 0 || segment.payload.len == 0), "{out:?}");
}

#[test]
fn a_removed_address_gets_no_further_subflow() {
    let mut client = mesh();
    let _ = opened(&mut client);
    client.run("+1 0 < . 1:1 ack 1 win 60000 add 3 10.3.0.2");
    let _ = client.take_out();
    assert_eq!(opened(&mut client), [address(3, 2, 5001)]);
    client.run("+1 0 < . 1:1 ack 1 win 60000 remove 3");
    for _ in 0..120 {
        let _ = client.take_out();
        client.run("+1000");
    }
    assert_eq!(opened(&mut client), []);
}

#[test]
fn the_removal_of_one_of_two_announced_addresses_closes_its_subflow_and_not_the_other() {
    let mut client = mesh();
    for line in ["add 3 10.3.0.2", "add 4 10.4.0.2"] {
        client.run(&format!("+1 0 < . 1:1 ack 1 win 60000 {line}"));
        let _ = client.take_out();
    }
    assert_eq!(opened(&mut client).len(), 3, "the initial one, and one for each");
    let ids: Vec<_> = client.connection.subflows().map(ropewalk_mptcp::Subflow::id).collect();
    client.run("+1 0 < . 1:1 ack 1 win 60000 remove 4");
    let _ = client.take_out();
    let closed: Vec<_> = client
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::SubflowClosed { id, .. } => Some(id),
            _ => None,
        })
        .collect();
    assert_eq!(closed, [ids[2]]);
}

/// RFC 8684 §3.4.1: whatever has been announced since.
#[test]
fn an_identifier_keeps_its_address_when_others_are_announced() {
    let mut client = Script::client(config());
    let mut announced = |option: &str| {
        client.run(&format!("+1 0 < . 1:1 ack 1 win 60000 {option}"));
        let _ = client.take_out();
        let events = client.events();
        events.iter().any(|event| matches!(event, Event::AddressAnnounced { .. }))
    };
    assert!(announced("add 3 10.3.0.2"));
    assert!(announced("add 4 10.4.0.2"));
    assert!(!announced("add 3 10.5.0.2"), "that identifier is in use");
}

/// A server that does one thing with a path a second after it is up, and has taken 100 octets before.
fn after_data(path: u32, action: ScriptedAction) -> Script {
    let steps = vec![ScriptedStep { at: Duration::from_secs(1), path, action }];
    let mut server = Script::server(Config { path_manager: PathManager::Scripted { steps }, ..config() });
    server.run(
        "+20 0 < . 1:101 ack 1 win 60000 dack 0 map 0 1 100
         0 > . 1:1 ack 101 dack 100",
    );
    server
}

#[test]
fn an_announcement_travels_alone_and_other_options_with_a_data_ack() {
    after_data(1, ScriptedAction::Announce).run("+1000 0 > . 1:1 ack 101 add 1 10.1.0.2 nodss");
    let backup = true;
    after_data(0, ScriptedAction::SetBackup { backup }).run("+1000 0 > . 1:1 ack 101 prio 1 dack 100");
}

/// 40 octets hold timestamps and all announcements but one: that of an IPv6 address with a port.
#[test]
fn the_longest_announcement_displaces_the_timestamps_and_no_other_does() {
    let second = ["10.1.0.2:5001", "10.1.0.2:6001", "[2001:db8::2]:5001", "[2001:db8::2]:6001"];
    let stamped = second.map(|second| {
        let action = ScriptedAction::Announce;
        let steps = vec![ScriptedStep { at: Duration::from_secs(1), path: 1, action }];
        let mut config = Config { path_manager: PathManager::Scripted { steps }, ..config() };
        config.tcp.timestamps = true;
        let second = second.parse().expect("an address and a port");
        let syn = "S 0:1 win 60000 mss 1024 sackok ts 1 0 capable";
        let mut server = Script::accept_beside(config, second, syn);
        server.run(
            "0 > S. 0:1 ack 1 capable
             +20 0 < . 1:1 ack 1 win 60000 ts 2 0 capable",
        );
        server.pass_until_output(2000);
        let (_, announcement) = server.take_out().remove(0);
        assert!(announcement.options.mptcp.has_rare());
        assert!(announcement.options.wire_len() <= Options::SPACE, "{announcement:?}");
        announcement.options.timestamps.is_some()
    });
    assert_eq!(stamped, [true, true, true, false]);
}
