use super::*;
use crate::random::Streams;

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

fn streams() -> LinkStreams {
    LinkStreams::new("test".to_owned(), Streams::new(7))
}

/// Which of `n` data packets of 1250 octets get lost.
fn losses(loss: Loss, n: usize) -> Vec<bool> {
    let (mut process, mut streams) = (LossProcess::new(loss), streams());
    (0..n).map(|_| process.loses(1_250, || true, &mut streams)).collect()
}

fn share(lost: &[bool]) -> f64 {
    lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64
}

/// Four standard deviations of a share of independent packets.
fn tolerance(p: f64, n: usize) -> f64 {
    4.0 * (p * (1.0 - p) / n as f64).sqrt()
}

#[test]
fn bernoulli_loses_its_share() {
    let n = 200_000;
    for p in [0.001, 0.03, 0.5] {
        let measured = share(&losses(Loss::Bernoulli(probability(p)), n));
        assert!((measured - p).abs() < tolerance(p, n), "{p}: {measured}");
    }
    assert!(share(&losses(Loss::Bernoulli(probability(1.0)), 100)) == 1.0);
    assert!(share(&losses(Loss::None, 100)) == 0.0);
}

#[test]
fn bit_errors_hit_long_packets_more_often() {
    let n = 200_000;
    // 1 - (1 - 10^-5)^10000 = 0.09517
    let measured = share(&losses(Loss::BitErrors(probability(1e-5)), n));
    assert!((measured - 0.095_163).abs() < tolerance(0.095_163, n), "{measured}");
    assert!(share(&losses(Loss::BitErrors(probability(1.0)), 100)) == 1.0);
    assert!(share(&losses(Loss::BitErrors(probability(0.0)), 100)) == 0.0);
}

#[test]
fn gilbert_elliott_loses_in_bursts() {
    let n = 400_000;
    let lost = losses(
        Loss::GilbertElliott {
            good_to_bad: probability(0.01),
            bad_to_good: probability(0.25),
            loss_good: probability(0.0),
            loss_bad: probability(1.0),
        },
        n,
    );
    // Gilbert 1960: the stationary share of the bad state is p / (p + r); a burst lasts 1 / r packets in the mean.
    let expected = 0.01 / 0.26;
    assert!((share(&lost) - expected).abs() < 0.003, "{}", share(&lost));
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let mean_burst = share(&lost) * n as f64 / bursts as f64;
    assert!((mean_burst - 4.0).abs() < 0.15, "{mean_burst}");
}

#[test]
fn an_exact_list_counts_data_packets_alone() {
    // Unsorted, with a number that cannot be and one given twice.
    let mut process = LossProcess::new(Loss::Exact([4, 2, 0, 2].into()));
    let mut streams = streams();
    let data = [true, false, true, true, false, false, true, true];
    let lost: Vec<bool> = data.iter().map(|&data| process.loses(100, || data, &mut streams)).collect();
    assert_eq!(lost, [false, false, true, false, false, false, true, false]);
}
