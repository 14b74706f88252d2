use super::*;

fn stream(name: &str) -> Stream {
    Streams::new(42).stream(name)
}

/// The largest distance between the empirical distribution of `draw` and `cdf` (Kolmogorov-Smirnov).
fn kolmogorov_smirnov(mut draw: impl FnMut() -> f64, cdf: impl Fn(f64) -> f64) -> f64 {
    let n = 20_000;
    let mut sample: Vec<f64> = (0..n).map(|_| draw()).collect();
    sample.sort_by(f64::total_cmp);
    let distance = |(rank, x): (usize, &f64)| {
        let expected = cdf(*x);
        (expected - rank as f64 / n as f64).abs().max((rank as f64 + 1.0) / n as f64 - expected)
    };
    sample.iter().enumerate().map(distance).fold(0.0, f64::max)
}

/// Critical distance at the level 0.1 % for 20 000 draws.
const CRITICAL: f64 = 1.949 / 141.42;

#[test]
fn uniform_exponential_and_normal_follow_their_distributions() {
    let mut s = stream("ks");
    assert!(kolmogorov_smirnov(|| s.uniform(), |x| x) < CRITICAL);
    assert!(kolmogorov_smirnov(|| s.exponential(3.0), |x| -libm::expm1(-x / 3.0)) < CRITICAL);
    let phi = |x: f64| 0.5 * libm::erfc(-(x - 5.0) / (2.0 * core::f64::consts::SQRT_2));
    assert!(kolmogorov_smirnov(|| s.normal(5.0, 2.0), phi) < CRITICAL);
    // The test itself must be able to fail.
    assert!(kolmogorov_smirnov(|| s.exponential(3.3), |x| -libm::expm1(-x / 3.0)) > CRITICAL);
}

/// Pearson's statistic of counts against expected shares.
fn chi_square(counts: &[u64], shares: &[f64]) -> f64 {
    let n: u64 = counts.iter().sum();
    counts
        .iter()
        .zip(shares)
        .map(|(&count, share)| (count as f64 - n as f64 * share).powi(2) / (n as f64 * share))
        .sum()
}

#[test]
fn range_geometric_and_bernoulli_follow_their_distributions() {
    let mut s = stream("chi-square");
    let mut counts = [0u64; 10];
    for _ in 0..100_000 {
        counts[s.range(10) as usize] += 1;
    }
    // 9 degrees of freedom, level 0.1 %.
    assert!(chi_square(&counts, &[0.1; 10]) < 27.9, "{counts:?}");

    let hits = (0..100_000).filter(|_| s.bernoulli(0.02)).count() as u64;
    assert!(chi_square(&[hits, 100_000 - hits], &[0.02, 0.98]) < 10.8, "{hits}");
}

#[test]
fn a_range_close_to_the_word_size_is_unbiased() {
    // With a plain remainder the lower half of 3 * 2^62 would come twice as often as the rest.
    let mut s = stream("bias");
    let n = 3 << 62;
    let mut counts = [0u64; 3];
    for _ in 0..30_000 {
        counts[(s.range(n) >> 62) as usize] += 1;
    }
    assert!(chi_square(&counts, &[1.0 / 3.0; 3]) < 13.8, "{counts:?}");
}

#[test]
fn the_ends_of_the_parameters_are_exact() {
    let mut s = stream("ends");
    for _ in 0..1_000 {
        assert!(!s.bernoulli(0.0));
        assert!(s.bernoulli(1.0));
        assert_eq!(s.range(1), 0);
        assert!(s.normal(0.0, 1.0).is_finite());
        assert!(s.exponential(1.0) > 0.0);
    }
}

#[test]
fn the_normal_quantile_inverts_the_distribution() {
    for p in [1e-300, 1e-17, 1e-9, 0.001, 0.02425, 0.1, 0.3, 0.5, 0.7, 0.975, 1.0 - 1e-9] {
        let z = normal::quantile(p);
        let back = 0.5 * libm::erfc(-z * core::f64::consts::FRAC_1_SQRT_2);
        assert!((back / p - 1.0).abs() < 1e-12, "{p}: {back}");
    }
    assert!((normal::quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
}

#[test]
fn streams_depend_on_seed_and_name_alone() {
    let first = |seed, name| Streams::new(seed).stream(name).next_u64();
    assert_eq!(first(1, "link/a/loss"), first(1, "link/a/loss"));
    assert_ne!(first(1, "link/a/loss"), first(2, "link/a/loss"));
    assert_ne!(first(1, "link/a/loss"), first(1, "link/b/loss"));
}

/// The values are of an independent ChaCha8 and SHA-256, and of Python's `math` and `statistics`.
#[test]
fn the_first_values_never_change() {
    let fresh = || Streams::new(1).stream("link/dsl/loss");
    let four = |draw: &dyn Fn(&mut Stream) -> f64| {
        let mut s = fresh();
        [draw(&mut s), draw(&mut s), draw(&mut s), draw(&mut s)]
    };
    let mut s = fresh();
    assert_eq!(
        [s.next_u64(), s.next_u64(), s.next_u64(), s.next_u64()],
        [0x31aa_c7d0_74c9_f560, 0x5e80_8116_1b39_a3c4, 0x6707_50c2_e054_c059, 0x2797_369f_234a_f22a]
    );
    assert_eq!(fresh().next_u32(), 0x74c9_f560);
    assert_eq!(
        four(&Stream::uniform),
        [0.194_012_153_999_928, 0.369_148_319_146_211_27, 0.402_455_375_268_192_3, 0.154_651_082_851_426_26]
    );
    let exponential =
        [4.919_503_417_191_121, 2.989_670_300_387_128, 2.730_513_171_506_492, 5.599_751_333_779_455];
    let normal =
        [3.273_588_336_894_978_7, 4.331_780_222_491_897, 4.506_006_529_058_574, 2.966_625_217_107_975_7];
    for (drawn, expected) in
        [(four(&|s| s.exponential(3.0)), exponential), (four(&|s| s.normal(5.0, 2.0)), normal)]
    {
        for (drawn, expected) in drawn.iter().zip(expected) {
            assert!((drawn / expected - 1.0).abs() < 1e-14, "{drawn} {expected}");
        }
    }
    assert_eq!(four(&|s| s.range(1_000) as f64), [194.0, 369.0, 402.0, 154.0]);
}
