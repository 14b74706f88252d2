//! Models of saturated stations that all hear each other.

use ropewalk_sim::Stream;
use std::cmp::Ordering;

/// What a model says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saturation {
    /// Payload over time, in Mbit/s.
    pub(crate) throughput: f64,
    /// Part of the transmissions that collide.
    pub(crate) collisions: f64,
}

/// Durations in µs, payload in bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) slot: f64,
    /// From the beginning of a successful transmission to the first slot after it.
    pub(crate) success: f64,
    /// The same for a collision.
    pub(crate) collision: f64,
    pub(crate) payload: f64,
    pub(crate) window: f64,
    pub(crate) stages: i32,
    /// How often a frame is sent at most.
    pub(crate) attempts: i32,
}

/// More attempts than any frame needs: as good as no limit.
pub(crate) const NO_LIMIT: i32 = 100;

impl Times {
    /// The probability that a station transmits in a slot, if each attempt collides with `p` and
    /// takes `slots` slots at its stage. A frame is given up after its last attempt (Wu, Peng,
    /// Long, Cheng and Ma, INFOCOM 2002).
    fn tau(&self, p: f64, slots: impl Fn(i32) -> f64) -> f64 {
        let (mut attempts, mut waited, mut reached) = (0.0, 0.0, 1.0);
        for attempt in 0..self.attempts {
            attempts += reached;
            waited += reached * slots(attempt.min(self.stages));
            reached *= p;
        }
        attempts / waited
    }

    fn window_at(&self, stage: i32) -> f64 {
        self.window * libm::pow(2.0, f64::from(stage))
    }
}

/// The probability p of a collision at which each of `n` stations transmits in a slot with
/// `tau(p)`.
fn fixed_point(n: f64, tau: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let p = (low + high) / 2.0;
        if 1.0 - libm::pow(1.0 - tau(p), n - 1.0) > p {
            low = p;
        } else {
            high = p;
        }
    }
    (low + high) / 2.0
}

/// Bianchi, JSAC 2000: every slot, busy or idle, takes one off every counter.
pub(crate) fn bianchi(n: u32, times: Times) -> Saturation {
    let n = f64::from(n);
    let tau = |p: f64| times.tau(p, |stage| (times.window_at(stage) + 1.0) / 2.0);
    let p = fixed_point(n, tau);
    let tau = tau(p);
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let time = idle * times.slot + success * times.success + (1.0 - idle - success) * times.collision;
    Saturation { throughput: success * times.payload / time, collisions: p }
}

/// Tinnirello, Bianchi and Xiao, TVT 2010: a busy slot does not take a frozen counter down, so a
/// station that waited cannot use the slot right after it. After a success the winner can, when it
/// draws 0. After a collision nobody can: the stations that have collided begin to count a slot
/// after the others' EIFS, when their timeout is over.
pub(crate) fn freezing(n: u32, times: Times) -> Saturation {
    let n = f64::from(n);
    let tau = |p: f64| {
        let given_up = libm::pow(p, f64::from(times.attempts));
        // After a success 1 to W - 1 slots of the model, for a 0 never reaches one; after a
        // collision 1 to W.
        let slots = |stage: i32| {
            let all = (times.window_at(stage) + 1.0) / 2.0;
            if stage == 0 { all - (1.0 - given_up) / 2.0 } else { all }
        };
        times.tau(p, slots)
    };
    let p = fixed_point(n, tau);
    let tau = tau(p);
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let collision = 1.0 - idle - success;
    // How many frames follow each other until the winner draws something else than 0.
    let burst = 1.0 / (1.0 - 1.0 / times.window);
    // Each busy period is followed by the slot that nobody else can use.
    let time = idle * times.slot
        + success * (burst * times.success + times.slot)
        + collision * (times.collision + times.slot);
    let attempts = n * tau + success * (burst - 1.0);
    Saturation { throughput: success * burst * times.payload / time, collisions: n * tau * p / attempts }
}

/// The process that [`freezing`] approximates, slot by slot, without the assumption that stations
/// are independent. Returns the part of `attempts` transmissions that collide.
pub(crate) fn collisions_slot_by_slot(n: usize, times: Times, attempts: u64, stream: &mut Stream) -> f64 {
    let most = times.window as u64 * (1 << times.stages);
    let mut draw = |window: u64| stream.range(window);
    let mut windows = vec![times.window as u64; n];
    let mut counters: Vec<u64> = windows.iter().map(|&window| draw(window)).collect();
    let (mut sent, mut failed) = (0, 0);
    while sent < attempts {
        let now: Vec<usize> = (0..n).filter(|&station| counters[station] == 0).collect();
        // An idle slot is counted by all; the slot after a collision by those alone that did not
        // collide.
        if now.len() != 1 {
            counters.iter_mut().for_each(|counter| *counter = counter.saturating_sub(1));
        }
        sent += now.len() as u64;
        failed += if now.len() > 1 { now.len() as u64 } else { 0 };
        for &station in &now {
            windows[station] =
                if now.len() > 1 { (windows[station] * 2).min(most) } else { times.window as u64 };
            counters[station] = draw(windows[station]);
        }
    }
    failed as f64 / sent as f64
}

/// The same process for two stations, exactly: the Markov chain of the states after an exchange,
/// instead of a random run.
pub(crate) fn collisions_of_two_exactly(times: Times) -> f64 {
    let chain = Pair { window: times.window as usize, top: times.stages as usize };
    let mut weights = chain.nothing();
    weights[chain.collided(0, 0)] = 1.0;
    let mut collisions = 0.0;
    // A station that waits longest is overtaken by some 64 exchanges: after a thousand nothing of
    // the start is left.
    for _ in 0..1_000 {
        let mut next = chain.nothing();
        let (mut sent, mut failed) = (0.0, 0.0);
        for (state, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            chain.step(state, weight, |to, weight| {
                next[to] += weight;
                let both = to >= chain.collided(0, 0);
                sent += if both { 2.0 * weight } else { weight };
                failed += if both { 2.0 * weight } else { 0.0 };
            });
        }
        (weights, collisions) = (next, failed / sent);
    }
    collisions
}

/// Two stations after an exchange. After a success the winner draws again at stage 0, and the other
/// has some slots left at its stage. After a collision both draw again.
struct Pair {
    window: usize,
    top: usize,
}

impl Pair {
    fn drawn_from(&self, stage: usize) -> usize {
        self.window << stage
    }

    /// One station has won; the other, at `stage`, has 1 or more slots left.
    fn waits(&self, stage: usize, left: usize) -> usize {
        stage * self.drawn_from(self.top) + left
    }

    /// Both have collided and are at these stages now.
    fn collided(&self, one: usize, other: usize) -> usize {
        self.waits(self.top + 1, 0) + one * (self.top + 1) + other
    }

    fn nothing(&self) -> Vec<f64> {
        vec![0.0; self.collided(self.top, self.top) + 1]
    }

    /// What follows `state`, each with its share of `weight`.
    fn step(&self, state: usize, weight: f64, mut to: impl FnMut(usize, f64)) {
        let stages = self.top + 1;
        if let Some(pair) = state.checked_sub(self.collided(0, 0)) {
            let (one, other) = (pair / stages, pair % stages);
            let (here, there) = (self.drawn_from(one), self.drawn_from(other));
            let each = weight / (here * there) as f64;
            to(self.after_collision(one, other), each * here.min(there) as f64);
            for ahead in 1..there {
                to(self.waits(other, ahead), each * here.min(there - ahead) as f64);
            }
            for ahead in 1..here {
                to(self.waits(one, ahead), each * there.min(here - ahead) as f64);
            }
            return;
        }
        let (stage, left) = (state / self.drawn_from(self.top), state % self.drawn_from(self.top));
        let each = weight / self.window as f64;
        for drawn in 0..self.window {
            match drawn.cmp(&left) {
                Ordering::Less => to(self.waits(stage, left - drawn), each),
                Ordering::Equal => to(self.after_collision(0, stage), each),
                Ordering::Greater => to(self.waits(0, drawn - left), each),
            }
        }
    }

    fn after_collision(&self, one: usize, other: usize) -> usize {
        self.collided((one + 1).min(self.top), (other + 1).min(self.top))
    }
}
