//! An attacker on the path knows every number. The connection may die; no octet comes from nowhere, and nobody is
//! kept busy.

use crate::settings::{Settings, connections, first_seed};
use crate::world::World;
use ropewalk_adversary::{Numbers, Random, Source, Target, segment};
use ropewalk_units::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(2_000);

/// One connection with an attacker who knows all; returns the octets of the attacker that were read.
fn life(seed: u64) -> u64 {
    let settings = Settings::draw(seed);
    let mut world = World::new(&settings);
    world.lenient = true;
    let mut random = Random::new(seed ^ 0xbad);
    let mut shots = 500u32;
    let (mut injected, mut struck) = ([0u64; 2], 0u64);
    while world.step(Instant::ZERO + LIMIT) {
        for _ in 0..random.below(8) {
            if shots == 0 || world.over.is_some() {
                break;
            }
            shots -= 1;
            struck += 1;
            let side = random.below(2) as usize;
            let victim = world.victim(side);
            let ack = if random.one_in(2) { victim.snd_una } else { victim.snd_nxt };
            let spread = random.pick(&[10, 3_000, 100_000, 1 << 31]);
            let numbers = Numbers::Near { seq: victim.rcv_nxt, ack, spread };
            let shot = segment(
                &mut random,
                &Target { knowledge: world.ends[side].knowledge, numbers, multipath: false },
            );
            injected[side] += u64::from(shot.payload.len);
            world.deliver(side, &shot);
        }
    }
    for (end, injected) in world.ends.iter().zip(injected) {
        assert!(end.foreign <= injected, "seed {seed}: {} octets of {injected}", end.foreign);
        // Retransmissions until somebody gives up, and an answer to each of the attacker's.
        let most = 3_000 + 4 * struck;
        assert!(end.sent <= most, "seed {seed}: {} segments sent", end.sent);
    }
    world.ends.iter().map(|end| end.foreign).sum()
}

#[test]
fn an_attacker_on_the_path_invents_nothing_and_keeps_nobody_busy() {
    let lives = connections() / 5;
    let foreign: u64 = (first_seed()..first_seed() + lives).map(life).sum();
    // The test would say nothing if nothing of the attacker's had been believed.
    assert!(foreign > 150 * lives, "{foreign} octets of the attacker were read");
}
