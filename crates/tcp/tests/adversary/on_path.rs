//! An attacker on the path knows every number. The connection may die; no octet comes from nowhere, and nobody is
//! kept busy.

use crate::settings::Settings;
use ropewalk_adversary::{Numbers, Random, Source, Target, segment};
use ropewalk_testnet::Stack;
use ropewalk_testnet::attack::{LIMIT, connections, first_seed};

/// One connection with an attacker who knows all; returns the octets of the attacker that were read.
fn life(seed: u64) -> u64 {
    let settings = Settings::draw(seed);
    let mut network = settings.network();
    network.watch();
    (0..2).for_each(|side| network.host_mut(side).application_mut().lenient = true);
    let mut random = Random::new(seed ^ 0xbad);
    let mut shots = 500u32;
    let (mut injected, mut struck) = ([0u64; 2], 0u64);
    while network.step(LIMIT) {
        for _ in 0..random.below(8) {
            if shots == 0 || network.over.is_some() {
                break;
            }
            shots -= 1;
            struck += 1;
            let side = random.below(2) as usize;
            let host = network.host(side);
            let victim = host.victim(0, network.host(1 - side));
            let numbers = Numbers::near(&victim, &mut random);
            let target = Target { knowledge: host.knowledge(0), numbers, multipath: false };
            let shot = segment(&mut random, &target);
            injected[side] += u64::from(shot.payload.len);
            let path = host.sockets()[0];
            network.inject(side, path, shot);
        }
    }
    for (host, injected) in network.hosts().iter().zip(injected) {
        let foreign = host.application().foreign;
        assert!(foreign <= injected, "seed {seed}: {foreign} octets of {injected}");
        // Retransmissions until somebody gives up, and an answer to each of the attacker's.
        let most = 3_000 + 4 * struck;
        assert!(host.sent() <= most, "seed {seed}: {} segments sent", host.sent());
    }
    network.hosts().iter().map(|host| host.application().foreign).sum()
}

#[test]
fn an_attacker_on_the_path_invents_nothing_and_keeps_nobody_busy() {
    let lives = connections() / 5;
    let foreign: u64 = (first_seed()..first_seed() + lives).map(life).sum();
    // The test would say nothing if nothing of the attacker's had been believed.
    assert!(foreign > 150 * lives, "{foreign} octets of the attacker were read");
}
