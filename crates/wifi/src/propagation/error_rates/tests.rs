use super::*;
use crate::propagation::Fading;
use ropewalk_sim::Streams;

/// Against the formulas evaluated by another program, by another quadrature.
#[test]
fn cck_has_the_symbol_errors_of_biorthogonal_signals() {
    for (energy, expected) in [(0.0, 0.937_5), (1.0, 0.604_346), (4.0, 0.164_481), (8.0, 0.023_998_8)] {
        assert!((cck_16(energy) - expected).abs() < 1e-6, "{energy}: {}", cck_16(energy));
    }
}

/// The ratios at which a tenth of the frames of 1000 octets fails, worked out by another program.
#[test]
fn each_rate_needs_what_the_formulas_say() {
    let nist = [-3.19, 1.44, 3.98, 3.85, 6.73, 6.99, 6.86, 9.74, 13.38, 16.48, 21.23, 22.49];
    let yans = [-3.19, 1.44, 3.98, 0.59, 2.88, 6.99, 3.58, 6.48, 9.96, 13.15, 17.57, 19.09];
    for (reception, expected) in [(Reception::Nist, nist), (Reception::Yans, yans)] {
        for (rate, expected) in Rate::ALL.into_iter().zip(expected) {
            let needed = needed_db(reception, rate, 0.9);
            assert!((needed - expected).abs() < 0.01, "{reception:?} {rate}: {needed}, expected {expected}");
        }
    }
}

#[test]
fn more_signal_and_fewer_octets_never_lose_more_frames() {
    for reception in [Reception::Nist, Reception::Yans] {
        let curves = Curves::new(reception);
        for rate in Rate::ALL {
            let mut before = 0.0;
            for tenth in -200..=400 {
                let sinr_db = f64::from(tenth) / 10.0;
                let short = curves.survives(rate, 14, sinr_db);
                let long = curves.survives(rate, 1_500, sinr_db);
                assert!((0.0..=1.0).contains(&long) && long <= short, "{rate} at {sinr_db}");
                assert!(long >= before - 1e-9, "{rate} at {sinr_db}");
                before = long;
            }
            assert!(before > 0.999_999, "{rate} at 40 dB");
        }
    }
}

#[test]
fn curves_are_what_they_are_made_of() {
    let curves = Curves::new(Reception::Nist);
    for rate in Rate::ALL {
        let needed = needed_db(Reception::Nist, rate, 0.9);
        let found = curves.survives(rate, 1_000, needed);
        assert!((found - 0.9).abs() < 0.005, "{rate}: {found}");
        assert!(curves.survives(rate, 1_000, needed - 3.0) < 0.2, "{rate}");
    }
}

/// Simon and Alouini, "Digital Communication over Fading Channels": DBPSK under Nakagami fading has
/// the mean error rate ½ (m / (m + γ))^m, Rayleigh is m = 1.
#[test]
fn dbpsk_under_fading_fails_as_often_as_its_closed_form_says() {
    const DRAWS: u32 = 200_000;
    let mean_sinr = 10.0 / DSSS_MHZ;
    for m in [0.5, 1.0, 2.5] {
        let fading = if m == 1.0 { Fading::Rayleigh } else { Fading::Nakagami { m } };
        let mut stream = Streams::new(1).stream("fading");
        let mut wrong = 0.0;
        for _ in 0..DRAWS {
            let sinr = mean_sinr * fading.gain(&mut stream);
            wrong += 1.0 - libm::exp(ln_bit_survives(Reception::Nist, Rate::Mbps1, sinr));
        }
        let expected = 0.5 * libm::pow(m / (m + 10.0), m);
        let found = wrong / f64::from(DRAWS);
        assert!((found / expected - 1.0).abs() < 0.03, "m = {m}: {found}, expected {expected}");
    }
}
