use super::{Action, Event, PathManager};
use crate::config::{Config, PathManager as Kind, ScriptedAction, ScriptedStep};
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
