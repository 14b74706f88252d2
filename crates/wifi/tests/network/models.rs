//! Models of saturated stations that all hear each other.

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
}

/// The probability p of a collision at which each of `n` stations transmits in a slot with `tau(p)`.
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
    let tau = |p: f64| {
        // The closed form divided by 1 - 2p, so that p = 1/2 is no exception.
        let sum: f64 = (0..times.stages).map(|stage| libm::pow(2.0 * p, f64::from(stage))).sum();
        2.0 / (times.window + 1.0 + p * times.window * sum)
    };
    let p = fixed_point(n, tau);
    let tau = tau(p);
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let time = idle * times.slot + success * times.success + (1.0 - idle - success) * times.collision;
    Saturation { throughput: success * times.payload / time, collisions: p }
}

/// After Tinnirello, Bianchi and Xiao, TVT 2010: a frozen counter is not taken down by the busy slot, so nobody else can use
/// the slot right after one. The station that was successful can, when it draws 0; and so can stations that have
/// collided, if their timeout is over as soon as the others' EIFS.
pub(crate) fn freezing(n: u32, times: Times) -> Saturation {
    let n = f64::from(n);
    let window = |stage: i32| times.window * libm::pow(2.0, f64::from(stage));
    // Shares of the backoff stages at transmissions in ordinary slots. A station that draws 0 after a collision has the
    // next slot to itself (but for another collided one), succeeds, and begins anew.
    let shares = |p: f64| {
        let mut shares = vec![0.0; times.stages as usize + 1];
        shares[0] = 1.0;
        for _ in 0..500 {
            let mut next = vec![0.0; shares.len()];
            for (stage, share) in shares.iter().enumerate() {
                let wider = (stage + 1).min(shares.len() - 1);
                let zero = 1.0 / window(wider as i32);
                next[wider] += share * p * (1.0 - zero);
                next[0] += share * (1.0 - p + p * zero);
            }
            shares = next;
        }
        shares
    };
    // From 1 to W - 1 slots, W/2 on average: 0 never reaches an ordinary slot.
    let tau = |p: f64| {
        let slots = shares(p).into_iter().zip(0..).map(|(share, stage)| share * window(stage) / 2.0);
        1.0 / slots.sum::<f64>()
    };
    let p = fixed_point(n, tau);
    let tau = tau(p);
    let zero: f64 =
        shares(p).iter().zip(0..).map(|(share, stage)| share / window((stage + 1).min(times.stages))).sum();
    let idle = libm::pow(1.0 - tau, n);
    let success = n * tau * libm::pow(1.0 - tau, n - 1.0);
    let collision = 1.0 - idle - success;
    let collided = if collision > 1e-12 { (n * tau - success) / collision } else { 0.0 };
    // How many frames follow each other until the winner draws something else than 0.
    let burst = 1.0 / (1.0 - 1.0 / times.window);
    let after_collision = collided * zero * libm::pow(1.0 - zero, collided - 1.0) * burst;
    let frames = success * burst + collision * after_collision;
    // Each busy period is followed by the slot that nobody else can use.
    let time = idle * times.slot
        + success * times.slot
        + collision * (times.collision + times.slot)
        + frames * times.success;
    let attempts = n * tau + success * (burst - 1.0) + collision * after_collision;
    Saturation { throughput: frames * times.payload / time, collisions: n * tau * p / attempts }
}
