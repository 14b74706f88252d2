use super::{Action, Event, PathManager};
use crate::config::{
    Config, EndpointFlags, KernelChange, KernelCommand, KernelEndpoint, KernelHost, KernelLimits,
    PathManager as Kind, ScriptedAction, ScriptedStep,
};
use crate::id::{Path, Wanted};
use proptest::prelude::*;
use ropewalk_units::{Duration, Instant};
use std::net::SocketAddr;

fn address(link: u8, host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, link, host], port))
}

fn path(link: u8) -> Path {
    Path { local: address(link, 1, 0), remote: address(link, 2, 5001) }
}

fn client(kind: Kind, links: u8) -> PathManager {
    let paths: Vec<Path> = (1..=links).map(path).collect();
    PathManager::client(&Config { path_manager: kind, ..Config::classic() }, &paths)
}

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn open(link: u8, backup: bool) -> Action {
    Action::Open(Wanted { path: path(link), path_index: u32::from(link) - 1, backup })
}

fn established(path_index: u32) -> Event {
    Event::SubflowEstablished { path_index, path: path(path_index as u8 + 1) }
}

fn closed(path_index: u32, failed: bool) -> Event {
    Event::SubflowClosed { path_index, failed, path: path(path_index as u8 + 1) }
}

#[test]
fn full_mesh_opens_every_other_path_when_established() {
    let mut manager = client(Kind::FullMesh, 3);
    assert_eq!(manager.next_tick(), None);
    assert_eq!(manager.on(at(5), Event::Established), [open(2, false), open(3, false)]);
    assert_eq!(manager.on(at(6), established(1)), []);
    assert_eq!(manager.next_tick(), None);
}

#[test]
fn backup_opens_all_but_the_first_as_backups() {
    let mut manager = client(Kind::Backup, 3);
    assert_eq!(manager.on(at(5), Event::Established), [open(2, true), open(3, true)]);
}

#[test]
fn ndiffports_stays_on_the_first_path() {
    let mut manager = client(Kind::Ndiffports { subflows: 3 }, 2);
    assert_eq!(manager.on(at(5), Event::Established), [open(1, false), open(1, false)]);
    let announcement = Event::AddressAnnounced { address: address(9, 2, 5001), address_id: 4 };
    assert_eq!(manager.on(at(6), announcement), []);
    // One of the three fails: one is opened again.
    manager.on(at(7), closed(0, true));
    assert_eq!(manager.on(at(1007), Event::Tick), [open(1, false)]);
}

#[test]
fn a_failed_subflow_is_opened_again_with_back_off() {
    let mut manager = client(Kind::FullMesh, 2);
    manager.on(at(0), Event::Established);
    let mut now = 0;
    for wait in [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
        assert_eq!(manager.on(at(now), closed(1, true)), []);
        assert_eq!(manager.next_tick(), Some(at(now + wait)));
        assert_eq!(manager.on(at(now + wait - 1), Event::Tick), []);
        now += wait;
        assert_eq!(manager.on(at(now), Event::Tick), [open(2, false)]);
    }
    // It works again: the next failure starts from the shortest wait.
    manager.on(at(now), established(1));
    manager.on(at(now), closed(1, true));
    assert_eq!(manager.next_tick(), Some(at(now + 1000)));
}

#[test]
fn the_initial_path_is_used_again_too() {
    let mut manager = client(Kind::FullMesh, 2);
    manager.on(at(0), Event::Established);
    manager.on(at(10), closed(0, true));
    assert_eq!(manager.on(at(1010), Event::Tick), [open(1, false)]);
}

#[test]
fn an_orderly_end_is_final() {
    let mut manager = client(Kind::FullMesh, 2);
    manager.on(at(0), Event::Established);
    assert_eq!(manager.on(at(10), closed(1, false)), []);
    assert_eq!(manager.next_tick(), None);
}

#[test]
fn an_announced_address_is_paired_with_every_local_one() {
    let mut manager = client(Kind::FullMesh, 2);
    manager.on(at(0), Event::Established);
    let new = address(7, 2, 5001);
    let announcement = Event::AddressAnnounced { address: new, address_id: 3 };
    let pair = |index, link| {
        let path = Path { local: address(link, 1, 0), remote: new };
        Action::Open(Wanted { path, path_index: index, backup: false })
    };
    assert_eq!(manager.on(at(1), announcement), [pair(2, 1), pair(3, 2)]);
    // Announced again, or an address that a path names: nothing new.
    assert_eq!(manager.on(at(2), announcement), []);
    let known = Event::AddressAnnounced { address: address(2, 2, 5001), address_id: 2 };
    assert_eq!(manager.on(at(3), known), []);
    // Removed: no more attempts; announced again: back.
    manager.on(at(4), Event::AddressRemoved { address_id: 3 });
    assert_eq!(manager.on(at(5), closed(2, true)), []);
    assert_eq!(manager.next_tick(), None);
    assert_eq!(manager.on(at(6), announcement), [pair(2, 1), pair(3, 2)]);
}

#[test]
fn a_peer_cannot_make_the_mesh_grow_without_bound() {
    let mut manager = client(Kind::FullMesh, 2);
    manager.on(at(0), Event::Established);
    let mut opened = 0;
    for host in 0..200 {
        let announcement = Event::AddressAnnounced { address: address(9, host, 5001), address_id: host };
        opened += manager.on(at(1), announcement).len();
    }
    assert_eq!(opened, super::mesh::PAIRS_MOST - 2);
}

#[test]
fn a_server_announces_its_other_addresses_and_opens_nothing() {
    let addresses = [address(1, 2, 5001), address(2, 2, 5001), address(3, 2, 5001)];
    let initial = Path { local: addresses[0], remote: address(1, 1, 40_000) };
    let mut manager = PathManager::server(&Config::linux(), &addresses, initial);
    let announce = |link| Action::Announce { address: address(link, 2, 5001) };
    assert_eq!(manager.on(at(0), Event::Established), [announce(2), announce(3)]);
    assert_eq!(manager.on(at(1), closed(0, true)), []);
    assert_eq!(manager.next_tick(), None);
}

fn step(seconds: u64, path: u32, action: ScriptedAction) -> ScriptedStep {
    ScriptedStep { at: Duration::from_secs(seconds), path, action }
}

#[test]
fn a_script_runs_its_steps_in_order_of_time() {
    let steps = vec![
        step(3, 1, ScriptedAction::Reset),
        step(0, 1, ScriptedAction::Open { backup: true }),
        step(2, 1, ScriptedAction::SetBackup { backup: false }),
        step(2, 0, ScriptedAction::Withdraw),
        step(4, 9, ScriptedAction::Close),
    ];
    let mut manager = client(Kind::Scripted { steps }, 2);
    assert_eq!(manager.on(at(5000), Event::Tick), [], "not established yet");
    assert_eq!(manager.on(at(10), Event::Established), [open(2, true)]);
    assert_eq!(manager.next_tick(), Some(at(2010)));
    assert_eq!(manager.on(at(2009), Event::Tick), []);
    let withdraw = Action::Withdraw { address: address(1, 1, 0) };
    assert_eq!(
        manager.on(at(2010), Event::Tick),
        [Action::SetBackup { path_index: 1, backup: false }, withdraw]
    );
    // A failure is not repaired: just the steps listed. A path that does not exist is nobody's.
    assert_eq!(manager.on(at(2500), closed(1, true)), []);
    assert_eq!(manager.on(at(9000), Event::Tick), [Action::Reset { path_index: 1 }]);
    assert_eq!(manager.next_tick(), None);
}

#[test]
fn a_server_s_script_cannot_open() {
    let steps =
        vec![step(0, 0, ScriptedAction::Open { backup: false }), step(0, 1, ScriptedAction::Announce)];
    let config = Config { path_manager: Kind::Scripted { steps }, ..Config::classic() };
    let addresses = [address(1, 2, 5001), address(2, 2, 5001)];
    let initial = Path { local: addresses[0], remote: address(1, 1, 40_000) };
    let mut manager = PathManager::server(&config, &addresses, initial);
    assert_eq!(manager.on(at(0), Event::Established), [Action::Announce { address: addresses[1] }]);
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        (0u32..5).prop_map(established),
        (0u32..5, any::<bool>()).prop_map(|(path_index, failed)| closed(path_index, failed)),
        (1u8..6, 0u8..4).prop_map(|(link, id)| Event::AddressAnnounced {
            address: address(link, 2, 5001),
            address_id: id
        }),
        (0u8..4).prop_map(|address_id| Event::AddressRemoved { address_id }),
        Just(Event::Tick),
    ];
    prop::collection::vec((0u64..30_000, event), 0..60)
}

proptest! {
    /// As many subflows at a time on a pair as are wanted, whatever happens; and a due tick always moves on.
    #[test]
    fn a_pair_is_opened_again_only_after_it_closed(events in events()) {
        let mut manager = client(Kind::FullMesh, 3);
        let mut open = std::collections::BTreeSet::from([0u32]);
        let mut now = 0;
        let mut all = vec![(0, Event::Established)];
        all.extend(events);
        for (wait, event) in all {
            now += wait;
            let mut due = vec![event];
            while let Some(event) = due.pop() {
                if let Event::SubflowClosed { path_index, .. } = event {
                    open.remove(&path_index);
                }
                if let Event::AddressRemoved { .. } = event {
                    // The connection closes what used the address; which pairs those are it knows itself.
                    open.clear();
                }
                for action in manager.on(at(now), event) {
                    let Action::Open(Wanted { path_index, .. }) = action else { unreachable!("a mesh opens only") };
                    prop_assert!(open.insert(path_index), "opened twice: {}", path_index);
                }
                prop_assert!(manager.next_tick().is_none_or(|tick| tick > at(now)));
            }
        }
    }
}

fn flagged(id: u8, flags: [bool; 5]) -> KernelEndpoint {
    let [subflow, signal, backup, fullmesh, laminar] = flags;
    let flags = EndpointFlags { subflow, signal, backup, fullmesh, laminar };
    KernelEndpoint { id, address: path(id).local.ip(), port: None, flags }
}

/// A client of Linux's with endpoints on links 1 to 4 and these flags: subflow, signal, backup, fullmesh, laminar.
fn kernel(subflows: u8, add_addr_accepted: u8, flags: &[[bool; 5]]) -> PathManager {
    let endpoints = flags.iter().zip(1..).map(|(&flags, id)| flagged(id, flags)).collect();
    let limits = KernelLimits { subflows, add_addr_accepted };
    let host = KernelHost { limits, endpoints, ..KernelHost::default() };
    client(Kind::Kernel { client: host, server: KernelHost::default() }, 4)
}

const NONE: [bool; 5] = [false; 5];
const SUBFLOW: [bool; 5] = [true, false, false, false, false];
const SIGNAL: [bool; 5] = [false, true, false, false, false];

fn pair(local: u8, remote: SocketAddr) -> Action {
    let path = Path { local: address(local, 1, 0), remote };
    Action::Open(Wanted { path, path_index: u32::from(local) - 1, backup: false })
}

fn ended(local: u8) -> Event {
    let path = Path { local: address(local, 1, 50_000), remote: path(1).remote };
    Event::SubflowClosed { path_index: u32::from(local) - 1, failed: true, path }
}

#[test]
fn an_endpoint_that_failed_gives_way_to_the_next_and_is_not_tried_again() {
    let mut manager = kernel(1, 0, &[NONE, SUBFLOW, SUBFLOW]);
    let first = path(1).remote;
    assert_eq!(manager.on(at(0), Event::Established), [pair(2, first)]);
    assert_eq!(manager.on(at(1), ended(2)), [pair(3, first)]);
    assert_eq!(manager.on(at(2), ended(3)), []);
    assert_eq!(manager.next_tick(), None);
}

#[test]
fn one_announcement_after_the_other_each_after_the_echo() {
    let mut manager = kernel(2, 0, &[SIGNAL, SIGNAL, SIGNAL]);
    let announce = |link| Action::Announce { address: address(link, 1, 0) };
    // The first one is the initial subflow's own address.
    assert_eq!(manager.on(at(0), Event::Established), [announce(2)]);
    assert_eq!(manager.on(at(1), Event::AnnouncementDone), [announce(3)]);
    assert_eq!(manager.on(at(2), Event::AnnouncementDone), []);
}

/// The limit `add_addr_accepted` counts announcements; one that is refused uses nothing up, and neither does one of the
/// initial address.
#[test]
fn as_many_announcements_are_followed_as_the_limit_says() {
    let mut manager = kernel(8, 2, &[NONE]);
    let first = path(1);
    let closed = Event::SubflowClosed { path_index: 0, failed: true, path: first };
    assert_eq!(manager.on(at(0), closed), []);
    let initial = Event::AddressAnnounced { address: first.remote, address_id: 0 };
    assert_eq!(manager.on(at(1), initial), [pair(1, first.remote)]);
    let announced =
        |link, address_id| Event::AddressAnnounced { address: address(link, 2, 5001), address_id };
    let open = |link| [pair(1, address(link, 2, 5001))];
    assert_eq!(manager.on(at(2), announced(2, 1)), open(2));
    assert_eq!(manager.on(at(3), announced(2, 1)), [], "known");
    assert_eq!(manager.on(at(4), announced(3, 2)), open(3));
    assert_eq!(manager.on(at(5), announced(4, 3)), [], "two are the limit");
}

#[test]
fn an_address_that_was_removed_may_be_announced_again() {
    let mut manager = kernel(2, 1, &[NONE]);
    let announced =
        |link, address_id| Event::AddressAnnounced { address: address(link, 2, 5001), address_id };
    let open = |link| [pair(1, address(link, 2, 5001))];
    assert_eq!(manager.on(at(0), announced(2, 1)), open(2));
    assert_eq!(manager.on(at(1), announced(3, 2)), [], "one is the limit");
    let path = Path { local: address(1, 1, 50_000), remote: address(2, 2, 5001) };
    manager.on(at(2), Event::SubflowClosed { path_index: 0, failed: false, path });
    assert_eq!(manager.on(at(3), Event::AddressRemoved { address_id: 1 }), []);
    assert_eq!(manager.on(at(4), announced(2, 1)), open(2));
}

/// A host of IPv4 with a peer of both families: no packet can go from the one to the other.
#[test]
fn addresses_of_another_family_get_no_subflow() {
    let other = SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 2], 5001));
    let event = Event::AddressAnnounced { address: other, address_id: 1 };
    const FULLMESH: [bool; 5] = [true, false, false, true, false];
    const LAMINAR: [bool; 5] = [false, false, false, false, true];
    let managers = [
        client(Kind::FullMesh, 2),
        kernel(4, 2, &[NONE]),
        kernel(4, 2, &[NONE, FULLMESH]),
        kernel(4, 2, &[NONE, LAMINAR]),
    ];
    for mut manager in managers {
        manager.on(at(0), Event::Established);
        assert_eq!(manager.on(at(1), event), []);
        let sound = Event::AddressAnnounced { address: address(2, 2, 5002), address_id: 2 };
        assert!(!manager.on(at(2), sound).is_empty(), "nothing is used up");
    }
    let mut denied = kernel(4, 0, &[NONE, SUBFLOW]);
    denied.deny_initial();
    assert_eq!(denied.on(at(0), event), []);
}

#[test]
fn a_peer_that_denies_its_initial_address_gets_no_subflow_there() {
    let mut manager = kernel(4, 0, &[NONE, SUBFLOW, SUBFLOW]);
    manager.deny_initial();
    // Under the default limit one announcement is followed, from all `subflow` endpoints, as Linux does.
    let event = Event::AddressAnnounced { address: address(2, 2, 5001), address_id: 1 };
    let other = address(2, 2, 5001);
    assert_eq!(manager.on(at(0), event), [pair(2, other), pair(3, other)]);
    assert_eq!(manager.on(at(1), Event::Established), []);
    let mut mesh = client(Kind::Ndiffports { subflows: 3 }, 2);
    mesh.deny_initial();
    assert_eq!(mesh.on(at(0), Event::Established), []);
}

#[test]
fn a_server_of_several_ports_announces_nothing() {
    let addresses = [address(1, 2, 5001), address(2, 2, 5001)];
    let initial = Path { local: addresses[0], remote: address(1, 1, 40_000) };
    let config = Config { path_manager: Kind::Ndiffports { subflows: 3 }, ..Config::classic() };
    let mut manager = PathManager::server(&config, &addresses, initial);
    assert_eq!(manager.on(at(0), Event::Established), []);
}

#[test]
fn the_first_path_is_no_backup_when_it_is_opened_again() {
    let mut manager = client(Kind::Backup, 2);
    manager.on(at(0), Event::Established);
    manager.on(at(10), closed(0, true));
    assert_eq!(manager.on(at(1010), Event::Tick), [open(1, false)]);
}

#[test]
fn the_back_off_of_one_path_does_not_end_when_another_comes_up() {
    let mut manager = client(Kind::FullMesh, 3);
    manager.on(at(0), Event::Established);
    manager.on(at(0), closed(2, true));
    // While it waits, and while it is tried.
    manager.on(at(500), established(1));
    assert_eq!(manager.on(at(1000), Event::Tick), [open(3, false)]);
    manager.on(at(1000), established(1));
    manager.on(at(1000), closed(2, true));
    assert_eq!(manager.next_tick(), Some(at(3000)));
    manager.on(at(1500), established(2));
    assert_eq!(manager.next_tick(), Some(at(3000)));
    assert_eq!(manager.on(at(3000), Event::Tick), [open(3, false)]);
    manager.on(at(3000), closed(2, true));
    assert_eq!(manager.next_tick(), Some(at(7000)));
}

/// The peer's address on this link, under this identifier.
fn announced(link: u8, address_id: u8) -> Event {
    Event::AddressAnnounced { address: address(link, 2, 5001), address_id }
}

/// A subflow from the first address to the peer's on this link.
fn to(link: u8) -> [Action; 1] {
    [pair(1, address(link, 2, 5001))]
}

fn ended_to(link: u8) -> Event {
    let path = Path { local: address(1, 1, 50_000), remote: address(link, 2, 5001) };
    Event::SubflowClosed { path_index: 0, failed: true, path }
}

#[test]
fn under_the_default_limits_no_announcement_is_followed() {
    for flags in [NONE, SUBFLOW] {
        let mut manager = kernel(2, 0, &[flags]);
        assert_eq!(manager.on(at(0), announced(2, 1)), []);
    }
    // … but one of the initial address, whose subflow has ended: it uses nothing up.
    let mut manager = kernel(2, 0, &[NONE]);
    manager.on(at(0), ended_to(1));
    assert_eq!(manager.on(at(1), announced(1, 0)), to(1));
}

/// As in Linux.
#[test]
fn a_connection_that_began_without_room_follows_no_announcement_later() {
    let change = |at, subflows, add_addr_accepted| KernelChange {
        at,
        command: KernelCommand::SetLimits(KernelLimits { subflows, add_addr_accepted }),
    };
    let limits = KernelLimits { subflows: 0, add_addr_accepted: 8 };
    let host = KernelHost { limits, changes: vec![change(at(10), 8, 8)], ..KernelHost::default() };
    let mut manager = client(Kind::Kernel { client: host, server: KernelHost::default() }, 4);
    assert_eq!(manager.on(at(0), Event::Established), []);
    assert_eq!(manager.on(at(20), announced(2, 1)), []);
    // … even if it has followed one of the initial address, which the limit does not hold for.
    manager.on(at(21), ended_to(1));
    assert_eq!(manager.on(at(22), announced(1, 0)), to(1));
    assert_eq!(manager.on(at(23), announced(2, 1)), []);
    // The limit that holds when an address goes says whether another one is followed.
    let limits = KernelLimits { subflows: 8, add_addr_accepted: 1 };
    let host = KernelHost { limits, changes: vec![change(at(10), 8, 0)], ..KernelHost::default() };
    let mut manager = client(Kind::Kernel { client: host, server: KernelHost::default() }, 4);
    assert_eq!(manager.on(at(0), Event::Established), []);
    assert_eq!(manager.on(at(1), announced(2, 1)), to(2));
    manager.on(at(20), Event::AddressRemoved { address_id: 1 });
    assert_eq!(manager.on(at(21), announced(3, 2)), []);
}

/// It is the initial address's (RFC 8684 §3.2).
#[test]
fn the_identifier_0_is_no_other_address_s_and_counts_for_none() {
    let mut manager = kernel(8, 1, &[NONE]);
    assert_eq!(manager.on(at(0), announced(2, 0)), []);
    manager.on(at(1), ended_to(1));
    assert_eq!(manager.on(at(2), announced(1, 0)), to(1));
    assert_eq!(manager.on(at(3), announced(2, 1)), to(2));
    manager.on(at(4), Event::AddressRemoved { address_id: 0 });
    assert_eq!(manager.on(at(5), announced(3, 2)), [], "one is the limit");
}

#[test]
fn each_of_several_announced_addresses_makes_room_for_another_when_it_goes() {
    let mut manager = kernel(8, 2, &[NONE]);
    assert_eq!(manager.on(at(0), announced(2, 1)), to(2));
    assert_eq!(manager.on(at(1), announced(3, 2)), to(3));
    assert_eq!(manager.on(at(2), Event::AddressRemoved { address_id: 1 }), []);
    assert_eq!(manager.on(at(3), announced(4, 3)), to(4));
}

/// As in Linux: only subflows that go give an announcement back. IPv6 is not followed here.
#[test]
fn an_address_that_got_no_subflow_makes_no_room_for_another_when_it_goes() {
    let mut manager = kernel(8, 1, &[NONE]);
    let other = SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 2], 5001));
    assert_eq!(manager.on(at(0), Event::AddressAnnounced { address: other, address_id: 5 }), []);
    assert_eq!(manager.on(at(1), announced(2, 1)), to(2));
    assert_eq!(manager.on(at(2), Event::AddressRemoved { address_id: 5 }), []);
    assert_eq!(manager.on(at(3), announced(3, 2)), [], "one is the limit");
}

/// As in Linux: only an address that goes has it follow others again.
#[test]
fn once_there_was_no_room_no_announcement_is_followed_though_a_subflow_ends() {
    let mut manager = kernel(1, 2, &[NONE]);
    assert_eq!(manager.on(at(0), announced(2, 1)), to(2));
    manager.on(at(1), ended_to(2));
    assert_eq!(manager.on(at(2), announced(3, 2)), []);
}

#[test]
fn despite_the_denial_no_more_subflows_are_opened_than_there_is_room_for() {
    let mut manager = kernel(1, 0, &[NONE, SUBFLOW, SUBFLOW]);
    manager.deny_initial();
    assert_eq!(manager.on(at(0), announced(2, 1)), [pair(2, address(2, 2, 5001))]);
}

/// The one that is being closed counts no more, and the one that has ended neither.
#[test]
fn a_subflow_that_ends_makes_room_beside_one_that_leaves() {
    let mut manager = kernel(2, 0, &[NONE, SUBFLOW, SUBFLOW, SUBFLOW, SUBFLOW]);
    let first = path(1).remote;
    assert_eq!(manager.on(at(0), Event::Established), [pair(2, first), pair(3, first)]);
    let leaving = Path { local: address(2, 1, 50_000), remote: first };
    assert_eq!(manager.on(at(1), Event::SubflowLeaving { path: leaving }), []);
    assert_eq!(manager.on(at(2), ended(3)), [pair(4, first), pair(5, first)]);
}

/// … and a subflow that is not opened counts for none.
#[test]
fn an_endpoint_that_may_not_go_to_the_initial_address_leaves_room_for_an_announced_one() {
    let mut manager = kernel(1, 1, &[NONE, SUBFLOW]);
    manager.deny_initial();
    assert_eq!(manager.on(at(0), Event::Established), []);
    assert_eq!(manager.on(at(1), announced(2, 1)), to(2));
}

/// The peer may announce an address before the connection is established.
#[test]
fn a_full_mesh_goes_once_to_each_address_of_the_peer() {
    let mut manager = kernel(8, 8, &[NONE, [true, false, false, true, false]]);
    assert_eq!(manager.on(at(0), announced(2, 1)), [pair(2, address(2, 2, 5001))]);
    assert_eq!(manager.on(at(1), Event::Established), [pair(2, path(1).remote)]);
}

proptest! {
    /// Whatever is announced, removed, established and closed, in whatever order.
    #[test]
    fn limits_hold_always(
        subflows in 0u8..=8,
        accepted in 0u8..=8,
        flags in prop::collection::vec(any::<[bool; 5]>(), 0..=4),
        events in prop::collection::vec((0u8..6, any::<u8>()), 0..80),
    ) {
        let mut manager = kernel(subflows, accepted, &flags);
        let mut open: Vec<Path> = Vec::new();
        let mut followed = std::collections::BTreeSet::new();
        for (kind, number) in std::iter::once((0, 0)).chain(events) {
            let peer = address(1 + number % 5, 2, 5001);
            let event = match kind {
                0 => Event::Established,
                1 if !open.is_empty() => {
                    let path = open.remove(usize::from(number) % open.len());
                    Event::SubflowClosed { path_index: 0, failed: true, path }
                }
                2 if !open.is_empty() => {
                    let path = open[usize::from(number) % open.len()];
                    Event::SubflowEstablished { path_index: 0, path }
                }
                3 => Event::AddressAnnounced { address: peer, address_id: number % 5 },
                4 => Event::AnnouncementDone,
                5 => {
                    followed.remove(&peer);
                    Event::AddressRemoved { address_id: number % 5 }
                }
                _ => Event::Tick,
            };
            for action in manager.on(at(0), event) {
                if let Action::Open(wanted) = action {
                    open.push(wanted.path);
                    if matches!(event, Event::AddressAnnounced { .. }) {
                        followed.insert(wanted.path.remote);
                    }
                }
            }
            prop_assert!(open.len() <= usize::from(subflows), "{} of {}", open.len(), subflows);
            prop_assert!(manager.admits() == (open.len() < usize::from(subflows)));
            prop_assert!(subflows > 0 || followed.is_empty());
        }
    }
}
