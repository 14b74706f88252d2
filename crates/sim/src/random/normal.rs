//! The normal distribution's quantile function.

/// Solves Φ(z) = p for 0 < p < 1 to about 1e-15.
///
/// A rational first guess (Abramowitz & Stegun 26.2.23, |error| < 4.5e-4), then Halley's method on Φ, whose error is
/// cubed by each step: two reach the last digits.
pub(super) fn quantile(p: f64) -> f64 {
    // Work in the lower tail, where p itself carries the precision.
    if p > 0.5 { -lower(1.0 - p) } else { lower(p) }
}

fn lower(p: f64) -> f64 {
    let mut z = -first_guess(p);
    for _ in 0..2 {
        z = halley(z, p);
    }
    z
}

/// Abramowitz & Stegun 26.2.23: the upper-tail quantile for 0 < p <= 0.5.
fn first_guess(p: f64) -> f64 {
    let t = libm::sqrt(-2.0 * libm::log(p));
    let numerator = 2.515517 + t * (0.802853 + t * 0.010328);
    let denominator = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    t - numerator / denominator
}

/// One step of Halley's method for Φ(z) - p, with Φ' = φ and φ' = -zφ.
fn halley(z: f64, p: f64) -> f64 {
    let cumulative = 0.5 * libm::erfc(-z * core::f64::consts::FRAC_1_SQRT_2);
    let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * core::f64::consts::PI);
    let step = (cumulative - p) / density;
    z - step / (1.0 + 0.5 * z * step)
}
