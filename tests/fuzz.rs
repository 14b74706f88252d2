//! The fuzz targets over their seeds, and over octets at random: on a stable compiler, without a fuzzer.

#[path = "../fuzz/src/lib.rs"]
pub mod targets;

use ropewalk_adversary::{Random, Source};
use ropewalk_tests::root;

/// Every seed, and inputs at random of up to `longest` octets.
fn run(target: &str, longest: u64, harness: fn(&[u8])) {
    let folder = root().join("fuzz/corpus").join(target);
    let mut seeds: Vec<_> =
        std::fs::read_dir(&folder).expect("seeds").map(|entry| entry.expect("a seed").path()).collect();
    seeds.sort();
    assert!(seeds.len() >= 8, "{} seeds in {}", seeds.len(), folder.display());
    for seed in seeds {
        println!("{}", seed.display());
        harness(&std::fs::read(seed).expect("readable"));
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PROPTEST_RNG_SEED").unwrap_or(1) << 32;
    for seed in first..first + number("ROPEWALK_INPUTS").unwrap_or(1_000) {
        println!("{target}: input {seed}");
        let mut random = Random::new(seed);
        let octets: Vec<u8> = (0..random.below(longest)).map(|_| random.next() as u8).collect();
        harness(&octets);
    }
}

#[test]
fn options_are_read_as_they_were_written() {
    run("options", 4_000, targets::options::run);
}

#[test]
fn any_octets_are_a_packet_or_an_error() {
    run("packets", 200, targets::packets::run);
}

#[test]
fn a_tcp_endpoint_bears_any_segments() {
    run("tcp", 20_000, targets::tcp::run);
}

#[test]
fn a_multipath_connection_bears_any_segments() {
    run("mptcp", 20_000, targets::mptcp::run);
}

#[test]
fn the_gateways_parsers_bear_any_octets() {
    run("gateway", 1_500, targets::gateway::run);
}

#[test]
fn a_gre_tunnel_bears_any_lines() {
    run("gre", 1_000, targets::gre::run);
}

#[test]
fn the_gateways_sessions_bear_any_lines() {
    run("gateway_session", 500, targets::gateway_session::run);
}
