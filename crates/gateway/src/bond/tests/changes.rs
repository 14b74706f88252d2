//! Keys of paths that change while a bond is at work.

use super::{World, config_with, hub_of, marks, packet, site_with};
use crate::bond::{Notice, PathKeys, SitePathChange};
use ropewalk_bonding::{Config, PathConfig, SchedulerConfig};

/// A site with cost-first, and a hub with this scheduler, which has these keys for paths of its two sites.
fn by_cost_with(hubs: SchedulerConfig, paths: Vec<PathConfig>) -> World {
    let cost_first = config_with(SchedulerConfig::CostFirst(Default::default()));
    let mut world = World::new(&[1]);
    world.sites[0] = Some(site_with(1, 0, world.now, cost_first));
    world.hub = hub_of(2, paths, config_with(hubs));
    world
}

/// Both with cost-first, at work.
fn by_cost() -> World {
    let mut world = by_cost_with(SchedulerConfig::CostFirst(Default::default()), Vec::new());
    world.run(1000);
    world
}

/// The hub by weights, of which the dearer path has none at first.
fn by_weight(paths: Vec<PathConfig>) -> World {
    by_cost_with(SchedulerConfig::WeightedRoundRobin(Default::default()), paths)
}

/// Gives the site's paths other keys.
fn set(world: &mut World, paths: Vec<PathConfig>) {
    let now = world.now;
    let site = world.sites[0].as_mut().expect("it is there");
    let (bond, ways) = (Config { paths, ..site.bond().clone() }, site.paths().to_vec());
    site.set_paths(now, bond, ways).expect("they are good");
}

/// Packets that each end has sent by the first path and by the second.
fn sent(world: &World) -> [[u64; 2]; 2] {
    let site = world.sites[0].as_ref().and_then(|site| site.status(world.now)).expect("a session");
    let hub = world.hub.status(world.now).remove(0).1.expect("a session");
    [site, hub].map(|end| [0, 1].map(|path: usize| end.paths[path].sent_packets))
}

/// Sends these both ways, one each millisecond, and returns by which paths each end has sent them.
fn exchange(world: &mut World, marks: std::ops::Range<u32>) -> [[u64; 2]; 2] {
    let before = sent(world);
    for mark in marks {
        world.send(0, mark);
        let mut back = packet([10, 200, 0, 1], [10, 0, 0, 5], mark);
        world.hub.handle_packet(world.now, &mut back);
        world.run(1);
    }
    world.run(200);
    let after = sent(world);
    [0, 1].map(|end| [0, 1].map(|path| after[end][path] - before[end][path]))
}

#[test]
fn costs_change_at_both_ends_in_one_bond() {
    let mut world = by_cost();
    assert_eq!(exchange(&mut world, 0..100), [[100, 0], [100, 0]]);
    set(&mut world, vec![PathConfig::new("dsl", Some(3)), PathConfig::new("lte", Some(2))]);
    world.run(200);
    assert_eq!(exchange(&mut world, 100..200), [[0, 100], [0, 100]], "the hub was told");
    assert_eq!(marks(&world.at_hub), (0..200).collect::<Vec<_>>());
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2, "one bond, at both ends");
    assert_eq!(world.count(|notice| *notice == Notice::Rekeyed), 2, "told once");
}

#[test]
fn the_hub_is_told_of_costs_when_it_can_hear() {
    let mut world = by_cost();
    world.line = Box::new(|_, _| 0);
    set(&mut world, vec![PathConfig::new("dsl", Some(3)), PathConfig::new("lte", Some(2))]);
    world.run(700);
    world.line = Box::new(|_, _| 1);
    world.run(3000);
    assert_eq!(exchange(&mut world, 0..100), [[0, 100], [0, 100]]);
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2);
}

#[test]
fn a_quota_is_kept_from_its_change_on() {
    let mut world = by_cost();
    exchange(&mut world, 0..100);
    let limited = PathConfig { quota: Some(1_000_000), quota_spent: None, ..PathConfig::new("dsl", Some(1)) };
    set(&mut world, vec![limited, PathConfig::new("lte", Some(2))]);
    world.run(200);
    assert_eq!(world.count(|notice| *notice == Notice::Rekeyed), 0, "that is this end's own affair");
    let status = world.sites[0].as_ref().and_then(|site| site.status(world.now)).expect("a session");
    assert!(status.paths[0].quota_spent > 200 * 80, "what was spent before counts: {status:?}");
    for mark in 100..20_000 {
        world.send(0, mark);
        world.run(1);
    }
    let [site, _] = exchange(&mut world, 20_000..20_100);
    assert_eq!(site, [0, 100], "the quota is spent");
    assert_eq!(marks(&world.at_hub).len(), 20_100);
}

fn change(path: &str, keys: PathKeys) -> SitePathChange {
    SitePathChange { site: "site0".into(), path: path.into(), keys }
}

fn weight(weight: u32) -> PathKeys {
    PathKeys { weight: Some(weight), ..PathKeys::default() }
}

#[test]
fn a_hub_changes_its_own_end_and_keeps_that_for_the_next_bond() {
    let mut world = by_weight(Vec::new());
    world.run(1000);
    assert_eq!(exchange(&mut world, 0..100), [[100, 0], [100, 0]]);
    let now = world.now;
    world.hub.set_path(now, &change("lte", weight(50))).expect("it is good");
    assert_eq!(exchange(&mut world, 100..200), [[100, 0], [50, 50]]);
    world.run(2000);
    set(&mut world, vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(5))]);
    world.run(100);
    assert_eq!(exchange(&mut world, 200..300), [[100, 0], [50, 50]], "also with new session keys");
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 2, "in one bond");
    if let Some(site) = &mut world.sites[0] {
        let (bond, mut ways) = (site.bond().clone(), site.paths().to_vec());
        ways[1].mtu = 1400;
        site.set_paths(world.now, bond, ways).expect("they are good");
    }
    world.run(200);
    // While nothing is lost the weight has begun to fall.
    let [_, hub] = exchange(&mut world, 300..400);
    assert!((45..=50).contains(&hub[1]), "and in the next bond: {hub:?}");
    assert_eq!(world.count(|notice| *notice == Notice::Begun), 4);
}

#[test]
fn a_hub_refuses_what_it_cannot_use_and_goes_on() {
    let mut world = by_weight(vec![PathConfig::new("far", None)]);
    world.run(1000);
    let now = world.now;
    let site1 = |keys| SitePathChange { site: "site1".into(), path: "far".into(), keys };
    let nobody = SitePathChange { site: "nobody".into(), ..change("dsl", weight(50)) };
    let quota = PathKeys { quota: Some(5), ..PathKeys::default() };
    let cost = PathKeys { cost: Some(5), ..PathKeys::default() };
    for (change, said) in [
        (nobody, "there is no site nobody"),
        (change("wlan", weight(50)), "site0 has no path wlan"),
        (change("dsl", weight(0)), "paths.dsl.weight: expected w_fixed of at least 1"),
        (change("dsl", quota), "paths.dsl.quota: expected 1 MB or more"),
        (change("dsl", cost), "no --cost at a hub"),
        (site1(weight(51)), "paths.far.weight: expected at most max_weight"),
    ] {
        let error = world.hub.set_path(now, &change).expect_err(said);
        assert!(error.contains(said), "{error}");
    }
    world.hub.set_path(now, &site1(weight(30))).expect("it waits for its site");
    assert_eq!(exchange(&mut world, 0..50), [[50, 0], [50, 0]]);
}

#[test]
fn a_hub_without_a_session_takes_the_keys_for_the_first() {
    let mut world = by_weight(vec![PathConfig::new("lte", None)]);
    let now = world.now;
    world.hub.set_path(now, &change("lte", weight(50))).expect("it is good");
    world.run(200);
    let [_, hub] = exchange(&mut world, 0..100);
    assert!((45..=50).contains(&hub[1]), "{hub:?}");
}
