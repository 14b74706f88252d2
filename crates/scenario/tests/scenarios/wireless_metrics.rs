//! Routes by metrics over links of different quality, against all routes there are.

use ropewalk_adversary::{Random, Source};
use ropewalk_routing::metrics::{Hop, MicSetting, mic, wcett};
use ropewalk_scenario::{Scenario, load};
use std::fmt::Write;

/// Eight stations on two rows; who is nearer than 21 m hears each other.
const STATIONS: [(&str, f64, f64); 8] = [
    ("s", 0.0, 10.0),
    ("a", 12.0, 0.0),
    ("b", 12.0, 18.0),
    ("c", 24.0, 1.0),
    ("e", 25.0, 17.0),
    ("f", 37.0, 0.0),
    ("g", 38.0, 18.0),
    ("d", 50.0, 10.0),
];
const RANGE: f64 = 21.0;
const CHANNELS: [u32; 2] = [1, 11];
const FRAME_S: f64 = 8.0 * 1500.0 / 11e6;

/// Losses in percent by direction and channel, all different and different for each `seed`.
fn loss(seed: u64, from: usize, to: usize, channel: usize) -> u64 {
    let place = seed + 1000 * (from as u64) + 100_000 * (to as u64) + 10_000_000 * (channel as u64);
    Random::new(place).below(70)
}

fn hears(a: usize, b: usize) -> bool {
    let ((_, x, y), (_, u, v)) = (STATIONS[a], STATIONS[b]);
    a != b && ((x - u).powi(2) + (y - v).powi(2)).sqrt() < RANGE
}

/// The scenario with a route that is found so, if there is one.
fn scenario(seed: u64, find: &str) -> Option<Scenario> {
    let mut text = format!(
        "[scenario]\nname = \"grid\"\nduration = \"1 s\"\n[hosts.s]\n[hosts.d]\n[connections.bulk]\nfrom = \"s\"\nto = \"d\"\n\
         [wifi]\nchannels = [1, 11]\npropagation = {{ model = \"disk\", reception = \"{RANGE} m\" }}\n\
         [wifi.routes.w]\nfrom = \"s\"\nto = \"d\"\nfind = {find}\n"
    );
    for (name, x, y) in STATIONS {
        let _ = writeln!(text, "[wifi.stations.{name}]\nposition = [\"{x} m\", \"{y} m\"]");
    }
    for (from, to) in (0..8).flat_map(|from| (0..8).map(move |to| (from, to))).filter(|&(a, b)| hears(a, b)) {
        for (place, channel) in CHANNELS.iter().enumerate() {
            let (from_name, to_name, loss) = (STATIONS[from].0, STATIONS[to].0, loss(seed, from, to, place));
            let _ = writeln!(
                text,
                "[[wifi.errors]]\nfrom = \"{from_name}\"\nto = \"{to_name}\"\nchannel = {channel}\nloss = \"{loss} %\""
            );
        }
    }
    match load(&text, None, &[]) {
        Ok(scenario) => Some(scenario),
        Err(error) if error.message.starts_with("there is only one") => None,
        Err(error) => panic!("{find}: {error}"),
    }
}

/// A hop over the link between two stations, worked out from the losses and the positions.
fn hop(seed: u64, [a, b]: [usize; 2], place: usize) -> Hop {
    let arrives = |from, to| 1.0 - loss(seed, from, to, place) as f64 / 100.0;
    let heard = (0..8).filter(|&other| other != a && other != b && (hears(a, other) || hears(b, other)));
    let ett = FRAME_S / (arrives(a, b) * arrives(b, a));
    Hop { channel: CHANNELS[place], ett, interfered: heard.count() as u32 }
}

/// All routes without a loop, with all channels of their hops.
fn all_routes(
    seed: u64,
    so_far: &mut Vec<usize>,
    hops: &mut Vec<Hop>,
    all: &mut Vec<(Vec<usize>, Vec<Hop>)>,
) {
    let last = so_far[so_far.len() - 1];
    if last == 7 {
        all.push((so_far.clone(), hops.clone()));
        return;
    }
    for next in (0..8).filter(|&next| hears(last, next)) {
        if so_far.contains(&next) {
            continue;
        }
        for place in 0..CHANNELS.len() {
            so_far.push(next);
            hops.push(hop(seed, [last, next], place));
            all_routes(seed, so_far, hops, all);
            so_far.pop();
            hops.pop();
        }
    }
}

fn everything(seed: u64) -> Vec<(Vec<usize>, Vec<Hop>)> {
    let mut all = Vec::new();
    all_routes(seed, &mut vec![0], &mut Vec::new(), &mut all);
    all
}

/// The stations and the hops of the route that the scenario has found.
fn found(scenario: &Scenario, seed: u64) -> (Vec<usize>, Vec<Hop>) {
    let wifi = scenario.plan().wifi.as_ref().expect("a network");
    let route = &wifi.scene.routes[0];
    let name = |id: u32| wifi.scene.stations[id as usize].name.as_str();
    let place = |id: u32| STATIONS.iter().position(|(known, ..)| *known == name(id)).expect("a station");
    let stations: Vec<_> = route.stations.iter().map(|id| place(id.0)).collect();
    let on = |index: usize| {
        let channel = route.channels.get(index).unwrap_or(&route.channels[0]);
        CHANNELS.iter().position(|known| *known == u32::from(*channel)).expect("a channel")
    };
    let hops = stations.windows(2).enumerate().map(|(index, ends)| hop(seed, [ends[0], ends[1]], on(index)));
    let hops = hops.collect();
    (stations, hops)
}

/// What a route is worth.
type Worth<'a> = &'a dyn Fn(&[Hop]) -> f64;

fn ett(hops: &[Hop]) -> f64 {
    hops.iter().map(|hop| hop.ett).sum()
}

#[test]
fn the_route_found_has_the_least_metric_of_all_routes() {
    let mut ways = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let all = everything(seed);
        let least_ett =
            all.iter().flat_map(|(_, hops)| hops).map(|hop| hop.ett).min_by(f64::total_cmp).expect("links");
        let setting = MicSetting { nodes: 8, least_ett, switches: 0.5, stays: 1.0 };
        let metrics: [(&str, Worth<'_>); 3] = [
            ("{ metric = \"ett\" }", &ett),
            ("{ metric = \"wcett\", beta = 0.6 }", &|hops| wcett(hops, 0.6)),
            ("{ metric = \"mic\" }", &|hops| mic(hops, setting)),
        ];
        for (find, worth) in metrics {
            let least = all.iter().map(|(_, hops)| worth(hops)).min_by(f64::total_cmp).expect("routes");
            let (stations, hops) = found(&scenario(seed, find).expect("a route"), seed);
            let value = worth(&hops);
            assert!(
                (value / least - 1.0).abs() < 1e-6,
                "{find}, seed {seed}: {value}, not {least}: {stations:?}"
            );
            ways.insert(stations);
        }
    }
    assert!(ways.len() > 4, "losses hardly matter: {ways:?}");
}

#[test]
fn the_optimal_pair_has_the_least_sum_of_all_pairs() {
    let mut differs = 0;
    for seed in 0..12 {
        let all = everything(seed);
        let is_disjoint = |a: &[usize], b: &[usize]| {
            a[1..a.len() - 1].iter().all(|station| !b[1..b.len() - 1].contains(station))
        };
        let sums = all.iter().flat_map(|(a, first)| {
            let others = all.iter().filter(move |(b, _)| is_disjoint(a, b));
            others.map(move |(_, second)| ett(first) + ett(second))
        });
        let least = sums.min_by(f64::total_cmp).expect("two ways round");
        let of = |algorithm: &str| {
            let one = |number: u32| {
                let find = format!("{{ metric = \"ett\", algorithm = \"{algorithm}\", number = {number} }}");
                scenario(seed, &find).map(|scenario| found(&scenario, seed))
            };
            let ((a, first), (b, second)) = one(1).zip(one(2))?;
            assert!(is_disjoint(&a, &b), "{algorithm}, seed {seed}: {a:?}, {b:?}");
            assert!(ett(&first) <= ett(&second), "the better comes first");
            Some(ett(&first) + ett(&second))
        };
        let best = of("optimal-node-disjoint").expect("two ways round");
        assert!((best / least - 1.0).abs() < 1e-6, "seed {seed}: {best}, not {least}");
        // Greedy may also find no second one.
        differs += u32::from(of("node-disjoint").is_none_or(|greedy| greedy > best * 1.000_001));
    }
    assert!(differs > 0, "greedy is always as good: the test shows nothing");
}

#[test]
fn packets_below_the_threshold_of_the_errors_lose_nothing() {
    // Over a all of 1500 octets fail nine times in ten, over b nothing does; without the errors a comes first.
    let with = |above: &str| {
        let text = format!(
            "[scenario]\nname = \"two\"\nduration = \"1 s\"\n[hosts.s]\n[hosts.d]\n[connections.bulk]\nfrom = \"s\"\nto = \"d\"\n\
             [wifi]\npropagation = {{ model = \"disk\", reception = \"20 m\" }}\n\
             [wifi.stations]\ns = {{ position = [\"0 m\", \"0 m\"] }}\na = {{ position = [\"12 m\", \"5 m\"] }}\n\
             b = {{ position = [\"12 m\", \"-5 m\"] }}\nd = {{ position = [\"24 m\", \"0 m\"] }}\n\
             [[wifi.errors]]\nfrom = \"a\"\nto = \"d\"\nloss = \"90 %\"\n{above}\n\
             [wifi.routes.w]\nfrom = \"s\"\nto = \"d\"\nfind = {{ metric = \"ett\" }}\n"
        );
        load(&text, None, &[]).unwrap_or_else(|error| panic!("{error}")).explain()
    };
    assert!(with("").contains("s ~ b ~ d"));
    assert!(with("above = \"1499 B\"").contains("s ~ b ~ d"));
    assert!(with("above = \"1500 B\"").contains("s ~ a ~ d"));
}

#[test]
fn rate_control_makes_short_links_quick() {
    // One long hop at a low rate, or two short ones at the highest.
    let with = |metric: &str| {
        let text = format!(
            "[scenario]\nname = \"two\"\nduration = \"1 s\"\n[hosts.s]\n[hosts.d]\n[connections.bulk]\nfrom = \"s\"\nto = \"d\"\n\
             [wifi]\ndata_rate = \"minstrel\"\npropagation = {{ model = \"log-distance\" }}\n\
             [wifi.stations]\ns = {{ position = [\"0 m\", \"0 m\"] }}\nr = {{ position = [\"100 m\", \"0 m\"] }}\n\
             d = {{ position = [\"200 m\", \"0 m\"] }}\n\
             [wifi.routes.w]\nfrom = \"s\"\nto = \"d\"\nfind = {{ metric = \"{metric}\" }}\n"
        );
        load(&text, None, &[]).unwrap_or_else(|error| panic!("{error}")).explain()
    };
    let (by_hops, by_ett) = (with("hops"), with("ett"));
    assert!(by_hops.contains("1 hop") && by_hops.contains("s ~ d"), "{by_hops}");
    assert!(by_ett.contains("s ~ r ~ d"), "{by_ett}");
}
