//! An attacker on the path knows every number of every subflow. The connection may die; no octet comes from nowhere,
//! and nobody is kept busy.

use crate::settings::Settings;
use ropewalk_adversary::{Numbers, Opening, Random, Source, Target, segment};
use ropewalk_testnet::attack::{LIMIT, connections, first_seed};
use ropewalk_testnet::{MptcpHost, Network, Stack};
use ropewalk_wire::Flags;

/// Aims at any subflow of `side`; returns the octets of data that the segment carried.
fn shoot(network: &mut Network<MptcpHost>, random: &mut Random, side: usize) -> u64 {
    let host = network.host(side);
    let sockets = host.sockets.len();
    if sockets == 0 {
        return 0;
    }
    let socket = random.below(sockets as u64) as usize;
    let victim = host.victim(socket, network.host(1 - side));
    let numbers = Numbers::near(&victim, random);
    let (path, knowledge) = (host.sockets[socket].path, host.sockets[socket].knowledge);
    let mut shot = segment(random, &Target { knowledge, numbers, multipath: true });
    if victim.opening == Opening::Synchronized && random.one_in(2) {
        // TCP accepts it: what counts is what its options say.
        (shot.seq, shot.ack, shot.flags) = (victim.rcv_nxt, victim.snd_nxt, Flags::ACK);
        shot.options.timestamps = knowledge.timestamps;
    }
    let len = u64::from(shot.payload.len);
    network.inject(side, path, shot);
    len
}

/// One connection with an attacker who knows all; returns the octets of the attacker that were read.
fn life(seed: u64) -> u64 {
    let settings = Settings::draw(seed);
    let mut network = settings.network();
    network.watch();
    (0..2).for_each(|side| network.host_mut(side).application_mut().lenient = true);
    let mut random = Random::new(seed ^ 0xbad);
    let (mut shots, mut injected, mut struck) = (500u32, [0u64; 2], 0u64);
    while network.step(LIMIT) {
        for _ in 0..random.below(8).min(u64::from(shots)) {
            shots -= 1;
            struck += 1;
            let side = random.below(2) as usize;
            injected[side] += shoot(&mut network, &mut random, side);
        }
    }
    for (side, (host, injected)) in network.hosts().iter().zip(injected).enumerate() {
        let foreign = host.application().foreign;
        let honest = host.application().received - foreign;
        assert!(honest <= settings.octets[1 - side], "seed {seed}: {honest} octets of an honest stream");
        assert!(foreign <= injected, "seed {seed}: {foreign} octets of {injected}");
        // Retransmissions on each subflow until somebody gives up, and answers to each of the attacker's.
        let most = 10_000 + 8 * struck;
        assert!(host.sent() <= most, "seed {seed}: {} segments sent", host.sent());
    }
    network.hosts().iter().map(|host| host.application().foreign).sum()
}

#[test]
fn an_attacker_on_the_path_invents_nothing_and_keeps_nobody_busy() {
    let lives = connections() / 5;
    let foreign: u64 = (first_seed()..first_seed() + lives).map(life).sum();
    // The test would say nothing if nothing of the attacker's had been believed.
    assert!(foreign > 60 * lives, "{foreign} octets of the attacker were read");
}
