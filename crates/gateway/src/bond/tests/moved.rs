//! A hub whose name stands for another address.

use super::{Config, Duration, Flying, Notice, SocketAddr, World, hub};

fn elsewhere() -> SocketAddr {
    "198.51.100.7:4500".parse().expect("an address")
}

fn nowhere() -> SocketAddr {
    "192.0.2.200:4500".parse().expect("an address")
}

impl World {
    /// Runs, and returns the seconds at which the site wishes a lookup.
    fn lookups(&mut self, seconds: u64) -> Vec<u64> {
        let mut wished = Vec::new();
        for _ in 0..seconds {
            self.run(1000);
            let second = self.now.as_nanos() / 1_000_000_000;
            wished.extend(self.site().poll_lookup().then_some(second));
        }
        wished
    }

    fn site(&mut self) -> &mut super::Site {
        self.sites[0].as_mut().expect("it is there")
    }

    /// Both paths' names stand for `to`.
    fn found(&mut self, to: SocketAddr) {
        let now = self.now;
        self.site().handle_addresses(now, &[(0, to), (1, to)]);
    }

    /// Where the bond's paths lead.
    fn remotes(&mut self) -> Vec<Option<SocketAddr>> {
        let now = self.now;
        let status = self.site().status(now);
        status.map(|status| status.paths.iter().map(|path| path.remote).collect()).unwrap_or_default()
    }

    fn moved(&self) -> usize {
        self.count(|notice| matches!(notice, Notice::Moved { .. }))
    }
}

#[test]
fn a_name_is_not_looked_up_while_the_hub_is_heard() {
    let mut world = World::new(&[1]);
    assert_eq!(world.lookups(400), [0; 0], "keys change meanwhile");
}

#[test]
fn names_are_looked_up_while_a_path_stays_down() {
    let mut world = World::new(&[1]);
    world.run(1000);
    world.line = Box::new(|_, flying| usize::from(socket_of(flying) == 0));
    let wished = world.lookups(100);
    assert!(matches!(wished[..], [11..=13, _, _, _]), "{wished:?}");
    let between = wished.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    assert_eq!(between, [10, 20, 40]);
    world.line = Box::new(|_, _| 1);
    world.run(5000);
    assert_eq!(world.lookups(100), [0; 0], "all is well again");
}

#[test]
fn a_path_whose_name_stands_for_another_address_is_found_there() {
    let mut world = World::new(&[1]);
    world.run(1000);
    let home = world.hub_at;
    world.second_at = Some(elsewhere());
    assert_eq!(world.lookups(15).len(), 1);
    // The name of the first path stands for an address where nobody is. That path works.
    let now = world.now;
    world.site().handle_addresses(now, &[(0, nowhere()), (1, elsewhere())]);
    world.run(5000);
    assert_eq!(world.moved(), 1);
    assert_eq!(world.remotes(), [Some(home), Some(elsewhere())]);
    let status = world.site().status(now).expect("a session");
    assert_eq!(status.paths.iter().map(|path| path.state).collect::<Vec<_>>(), ["up", "up"]);
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2, "the bond is that of the beginning");
    assert_eq!(world.lookups(300), [0; 0], "all is well, and keys have changed meanwhile");
    assert_eq!(world.remotes(), [Some(home), Some(elsewhere())]);
}

#[test]
fn a_path_that_comes_back_where_it_was_stays_there() {
    let mut world = World::new(&[1]);
    world.run(1000);
    let home = world.hub_at;
    world.second_at = Some(elsewhere());
    world.lookups(15);
    let now = world.now;
    world.site().handle_addresses(now, &[(1, nowhere())]);
    world.run(130_000);
    assert_eq!(world.moved(), 0, "nobody answers there, though keys have changed");
    world.second_at = None;
    world.run(5000);
    assert_eq!((world.moved(), world.remotes()), (0, vec![Some(home); 2]));
    // The other address is forgotten: nothing goes there any more.
    world.asked.clear();
    world.run(5000);
    assert!(!world.asked.contains(&nowhere()), "{:?}", world.asked);
}

/// The site's socket that it came from, or goes to.
fn socket_of(flying: &Flying) -> usize {
    match flying.to {
        Some(_) => flying.way.socket,
        None => usize::from(flying.way.to == super::address(0, 1)),
    }
}

#[test]
fn a_hub_that_is_silent_is_looked_up_with_more_and_more_time_between() {
    let mut world = World::new(&[1]);
    world.run(1000);
    world.hub_at = elsewhere();
    let wished = world.lookups(200);
    assert!(matches!(wished[..], [11..=13, _, _, _, _]), "{wished:?}");
    let between = wished.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    assert_eq!(between, [10, 20, 40, 80]);
}

#[test]
fn a_hub_that_was_never_heard_is_looked_up_too() {
    let mut world = World::new(&[1]);
    world.hub_at = elsewhere();
    let wished = world.lookups(15);
    assert!(matches!(wished[..], [10..=12]), "{wished:?}");
    world.found(elsewhere());
    world.run(100);
    assert!(world.has_session(0));
    assert_eq!(world.remotes(), [Some(elsewhere()); 2]);
}

#[test]
fn a_hub_at_another_address_is_found_there_and_the_bond_goes_on() {
    let mut world = World::new(&[1]);
    world.run(1000);
    world.hub_at = elsewhere();
    assert_eq!(world.lookups(15).len(), 1);
    world.found(elsewhere());
    world.run(200);
    assert_eq!(world.moved(), 2, "each path once");
    assert_eq!(world.remotes(), [Some(elsewhere()); 2]);
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2, "the bond is that of the beginning");
    world.send(0, 7);
    world.run(1000);
    assert_eq!(super::marks(&world.at_hub), [7]);
    assert_eq!(world.lookups(200), [0; 0], "all is well again");
}

#[test]
fn another_machine_takes_the_hub_s_place() {
    let mut world = World::new(&[1]);
    world.run(1000);
    (world.hub_at, world.hub) = (elsewhere(), hub(2));
    world.lookups(15);
    world.found(elsewhere());
    world.run(1000);
    assert_eq!(world.remotes(), [Some(elsewhere()); 2]);
    world.send(0, 8);
    world.run(200);
    assert_eq!(super::marks(&world.at_hub), [8]);
}

#[test]
fn a_name_that_leads_nowhere_costs_nothing() {
    let mut world = World::new(&[1]);
    world.run(1000);
    let home = world.hub_at;
    world.hub_at = elsewhere();
    world.lookups(15);
    world.found(nowhere());
    world.run(20_000);
    assert_eq!(world.remotes(), [Some(home); 2], "the known address stays in use");
    world.hub_at = home;
    world.run(6000);
    assert_eq!((world.moved(), world.remotes()), (0, vec![Some(home); 2]));
    // What is nowhere is forgotten now: a hub that appears there is no longer asked.
    world.hub_at = nowhere();
    world.run(20_000);
    assert_eq!(world.moved(), 0);
}

#[test]
fn an_address_that_comes_while_the_hub_is_heard_is_ignored() {
    let mut world = World::new(&[1]);
    world.run(1000);
    world.found(nowhere());
    assert_eq!(world.count(|notice| matches!(notice, Notice::Renamed { .. })), 0);
    world.run(200_000);
    assert_eq!((world.moved(), world.remotes()), (0, vec![Some(super::hub_address()); 2]));
}

#[test]
fn a_path_that_is_added_later_leads_to_its_own_address() {
    let mut world = World::new(&[1]);
    world.run(1000);
    world.hub_at = elsewhere();
    world.lookups(15);
    world.found(elsewhere());
    let now = world.now;
    let (bond, mut paths) = (world.site().bond().clone(), world.site().paths().to_vec());
    paths.truncate(1);
    paths[0].way.to = elsewhere();
    let bond = Config { paths: bond.paths[..1].to_vec(), ..bond };
    world.site().set_paths(now, bond, paths).expect("they are good");
    world.run(300);
    assert_eq!((world.moved(), world.remotes()), (0, vec![Some(elsewhere())]));
    world.now += Duration::from_secs(1);
    world.run(100);
    assert!(world.has_session(0));
}
