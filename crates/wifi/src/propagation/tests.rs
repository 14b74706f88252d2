use super::*;
use crate::phy::Standard;

const B: Standard = Standard::Dsss { short_preamble: false };

fn channel(number: u8) -> Channel {
    Channel::new(B, number).unwrap()
}

fn log_distance(shadowing_db: f64) -> LogDistance {
    LogDistance {
        power_dbm: 15.0,
        reference_loss_db: free_space_loss_db(2437.0),
        reference_distance: 1.0,
        exponent: 3.0,
        breakpoint: None,
        fading: Fading::None,
        shadowing_db,
        receiver: Receiver::typical(B),
    }
}

#[test]
fn a_disk_has_three_ranges() {
    let disk =
        Disk { reception: 20.0, carrier_sense: 40.0, interference: 30.0, overlap: Overlap::DestroysAll };
    let propagation = Propagation::Disk(disk);
    let at = |distance: f64| {
        let signal = propagation.signal(distance, 0.0, channel(1), channel(1));
        (signal.is_decodable, signal.power_mw > 0.0, signal.is_sensed)
    };
    assert_eq!(at(20.0), (true, true, true));
    assert_eq!(at(20.1), (false, true, true));
    assert_eq!(at(30.1), (false, false, true));
    assert_eq!(at(40.1), (false, false, false));
    assert!(propagation.receives(Rate::Mbps11, 1.0, 0.0));
    assert!(!propagation.receives(Rate::Mbps11, 1.0, 1.0));
    let first = Propagation::Disk(Disk { overlap: Overlap::FirstWins, ..disk });
    assert!(first.receives(Rate::Mbps11, 1.0, 3.0));
    // Another channel is interference where it overlaps, and nothing where it does not.
    let beside = propagation.signal(10.0, 0.0, channel(1), channel(2));
    assert!(!beside.is_decodable && beside.is_sensed);
    assert_eq!(propagation.signal(10.0, 0.0, channel(1), channel(6)), Signal::NONE);
}

#[test]
fn power_falls_by_ten_n_decibels_per_decade() {
    let model = log_distance(0.0);
    // Friis at 2.437 GHz over a metre: 40.18 dB.
    assert!((model.received_dbm(1.0, 0.0) - (15.0 - 40.18)).abs() < 0.01);
    assert!((model.received_dbm(10.0, 0.0) - model.received_dbm(100.0, 0.0) - 30.0).abs() < 1e-9);
    assert!((model.received_dbm(10.0, 3.0) - model.received_dbm(10.0, 0.0) + 3.0).abs() < 1e-9);
    assert_eq!(model.received_dbm(0.0, 0.0).to_bits(), model.received_dbm(1.0, 0.0).to_bits());
}

#[test]
fn ranges_are_where_the_threshold_is_met() {
    let propagation = Propagation::LogDistance(log_distance(0.0));
    for rate in [Rate::Mbps1, Rate::Mbps2, Rate::Mbps5_5, Rate::Mbps11] {
        let range = propagation.reception_range(rate);
        for (distance, expected) in [(range * 0.999, true), (range * 1.001, false)] {
            let signal = propagation.signal(distance, 0.0, channel(1), channel(1));
            assert_eq!(propagation.receives(rate, signal.power_mw, 0.0), expected, "{rate} at {distance}");
        }
    }
    let sensed = propagation.carrier_sense_range();
    assert!(propagation.signal(sensed * 0.999, 0.0, channel(1), channel(1)).is_sensed);
    assert!(!propagation.signal(sensed * 1.001, 0.0, channel(1), channel(1)).is_sensed);
    // 12 dB of sensitivity are 0.4 decades of distance at n = 3.
    let ratio = propagation.reception_range(Rate::Mbps1) / propagation.reception_range(Rate::Mbps11);
    assert!((ratio - libm::exp10(0.4)).abs() < 1e-9);
}

#[test]
fn too_weak_even_at_the_reference_distance_has_no_range() {
    let deaf = LogDistance { power_dbm: -80.0, ..log_distance(0.0) };
    assert_eq!(deaf.range(-94.0).to_bits(), 0.0f64.to_bits());
}

#[test]
fn interference_counts_as_the_sum_of_its_powers() {
    let receiver = Receiver::typical(B);
    let signal = mw_from_dbm(-60.0);
    // 11 Mbit/s needs 16 dB. One interferer 17 dB below is survived, two of them are 14 dB below
    // and are not.
    let one = mw_from_dbm(-77.0);
    assert!(receiver.receives(Rate::Mbps11, signal, one));
    assert!(!receiver.receives(Rate::Mbps11, signal, 2.0 * one));
    assert!(receiver.receives(Rate::Mbps5_5, signal, 2.0 * one));
    assert!((receiver.sinr_db(signal, 2.0 * one) - (17.0 - 3.0103)).abs() < 0.05);
    // Noise alone: 38 dB above the floor.
    assert!((receiver.sinr_db(signal, 0.0) - 38.0).abs() < 1e-9);
}

#[test]
fn ofdm_sensitivities_stay_better_than_the_standard_asks() {
    let receiver = Receiver::typical(Standard::OfdmA);
    let asked = [-82.0, -81.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0];
    for (rate, asked) in crate::phy::RateSet::OFDM.iter().zip(asked) {
        // 3 dB of noise figure and 5 dB of losses better.
        assert!((receiver.sensitivity_dbm(rate) - (asked - 8.0)).abs() < 1e-9, "{rate}");
    }
}

#[test]
fn shadowing_is_symmetric_stable_and_normal() {
    let propagation = Propagation::LogDistance(log_distance(6.0));
    let streams = Streams::new(7);
    let of = |a: &str, b: &str| propagation.shadowing_db(&streams, a, b);
    assert_eq!(of("a", "b").to_bits(), of("b", "a").to_bits());
    assert_ne!(of("a", "b").to_bits(), of("a", "c").to_bits());
    let draws: Vec<f64> = (0..4000).map(|k| of("a", &format!("n{k}"))).collect();
    let mean = draws.iter().sum::<f64>() / 4000.0;
    let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 3999.0;
    // Four standard errors: 6/√4000 of the mean, 6/√8000 of the deviation.
    assert!(mean.abs() < 4.0 * 0.095, "{mean}");
    assert!((variance.sqrt() - 6.0).abs() < 4.0 * 0.067, "{}", variance.sqrt());
    assert!(draws.iter().any(|x| x.abs() > 12.0));
    let plain = Propagation::LogDistance(log_distance(0.0));
    assert_eq!(plain.shadowing_db(&streams, "a", "b").to_bits(), 0.0f64.to_bits());
}

#[test]
fn overlap_shrinks_with_the_distance_of_channels() {
    let factors: Vec<f64> = (1..=6).map(|number| channel(1).overlap(channel(number))).collect();
    assert_eq!(factors[0].to_bits(), 1.0f64.to_bits());
    assert!(factors.windows(2).all(|pair| pair[1] < pair[0]), "{factors:?}");
    // The flat parts of 22 MHz share 17, 12, 7 and 2 MHz; the skirts of -30 dBr add a few
    // thousandths.
    for (factor, shared) in factors[1..5].iter().zip([17.0, 12.0, 7.0, 2.0]) {
        assert!((factor - shared / 22.0).abs() < 2.5e-3, "{factors:?}");
    }
    assert_eq!(factors[5].to_bits(), 0.0f64.to_bits());
    for (a, b) in [(1, 3), (6, 2), (13, 14), (11, 7)] {
        assert!((channel(a).overlap(channel(b)) - channel(b).overlap(channel(a))).abs() < 1e-12);
    }
}

#[test]
fn ofdm_overlaps_at_24_but_not_at_50() {
    let g = |number| Channel::new(Standard::OfdmG, number).unwrap();
    assert!(g(1).overlap(g(3)) > 0.3 && g(1).overlap(g(3)) < 0.55);
    assert_eq!(g(1).overlap(g(6)).to_bits(), 0.0f64.to_bits());
    let a = |number| Channel::new(Standard::OfdmA, number).unwrap();
    assert_eq!(a(36).overlap(a(40)).to_bits(), 0.0f64.to_bits());
    assert_eq!(a(36).overlap(a(36)).to_bits(), 1.0f64.to_bits());
    // A neighbour with another modulation: symmetric, and less than the same modulation on the same
    // channel.
    assert!((g(1).overlap(channel(2)) - channel(2).overlap(g(1))).abs() < 1e-12);
}

#[test]
fn an_overlapping_channel_is_weaker_and_never_decoded() {
    let propagation = Propagation::LogDistance(log_distance(0.0));
    let own = propagation.signal(30.0, 0.0, channel(1), channel(1));
    let beside = propagation.signal(30.0, 0.0, channel(3), channel(1));
    assert!(own.is_decodable && !beside.is_decodable);
    assert!((beside.power_mw / own.power_mw - channel(1).overlap(channel(3))).abs() < 1e-12);
}

#[test]
fn channels_that_do_not_exist_are_refused() {
    for (standard, number, part) in [
        (B, 0, "1 to 14"),
        (B, 15, "802.11b has no channel 15"),
        (Standard::OfdmG, 14, "1 to 13"),
        (Standard::OfdmA, 38, "36, 40"),
        (Standard::OfdmA, 1, "165"),
    ] {
        let error = Channel::new(standard, number).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(channel(14).centre_mhz(), 2484);
    assert_eq!(Channel::new(Standard::OfdmA, 149).unwrap().centre_mhz(), 5745);
}

/// Friis near by; far away Pt h⁴ / d⁴, whatever the frequency (Rappaport, §4.6).
#[test]
fn two_ray_ground_has_both_its_laws() {
    const HEIGHT: f64 = 1.5;
    for frequency in [2_412.0, 5_180.0] {
        let model = LogDistance {
            reference_loss_db: free_space_loss_db(frequency),
            exponent: 2.0,
            breakpoint: Some(Breakpoint::two_ray(HEIGHT, frequency)),
            ..log_distance(0.0)
        };
        let bend = model.breakpoint.unwrap().distance;
        let friis =
            |distance: f64| model.power_dbm - free_space_loss_db(frequency) - 20.0 * libm::log10(distance);
        for distance in [10.0, 0.9 * bend] {
            assert!((model.received_dbm(distance, 0.0) - friis(distance)).abs() < 1e-9);
        }
        for distance in [1.1 * bend, 2_000.0] {
            let expected = model.power_dbm + 40.0 * libm::log10(HEIGHT / distance);
            assert!((model.received_dbm(distance, 0.0) - expected).abs() < 1e-9, "{distance} m");
        }
        for distance in [20.0, 0.99 * bend, 1.5 * bend, 900.0] {
            let range = model.range(model.received_dbm(distance, 0.0));
            assert!((range / distance - 1.0).abs() < 1e-9, "{distance} m, {range} m");
        }
    }
}
