use super::*;
use ropewalk_sim::Streams;

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn gilbert_elliott(p: f64, r: f64, loss_good: f64, loss_bad: f64) -> GilbertElliott {
    GilbertElliott {
        good_to_bad: probability(p),
        bad_to_good: probability(r),
        loss_good: probability(loss_good),
        loss_bad: probability(loss_bad),
        step: Step::Attempt,
    }
}

fn three_states() -> HiddenMarkov {
    let transitions = [vec![0.9, 0.08, 0.02], vec![0.3, 0.6, 0.1], vec![0.05, 0.15, 0.8]];
    HiddenMarkov::new(&transitions, &[0.01, 0.2, 0.9]).unwrap()
}

/// Loss and mean run of losses over this many attempts, one per `spacing`.
fn measured(model: ErrorModel, attempts: u64, spacing: Duration) -> (f64, f64) {
    let errors = FrameErrors { model, above: 300 };
    let mut process = FrameErrorProcess::new(errors, Streams::new(11).stream("wifi/errors"), Instant::ZERO);
    let (mut lost, mut runs, mut was_lost) = (0u64, 0u64, false);
    for k in 1..=attempts {
        let is_lost = process.fails(Instant::ZERO + spacing * k, 301);
        lost += u64::from(is_lost);
        runs += u64::from(is_lost && !was_lost);
        was_lost = is_lost;
    }
    (lost as f64 / attempts as f64, lost as f64 / runs as f64)
}

#[test]
fn models_lose_what_their_formulas_say() {
    for model in [
        ErrorModel::Bernoulli(probability(0.1)),
        ErrorModel::GilbertElliott(gilbert_elliott(0.02, 0.2, 0.0, 1.0)),
        ErrorModel::GilbertElliott(gilbert_elliott(0.05, 0.1, 0.02, 0.6)),
        ErrorModel::GilbertElliott(GilbertElliott::with_mean_burst(0.1, 8.0, Step::Attempt).unwrap()),
        ErrorModel::HiddenMarkov(three_states()),
    ] {
        let (loss, burst) = measured(model.clone(), 1_000_000, Duration::from_millis(1));
        // The slowest of these chains forgets in some eight steps: a standard error is below 1 %.
        assert!((loss / model.mean_loss() - 1.0).abs() < 0.03, "{model:?}: {loss} for {}", model.mean_loss());
        assert!(
            (burst / model.mean_burst() - 1.0).abs() < 0.03,
            "{model:?}: {burst} for {}",
            model.mean_burst()
        );
    }
}

#[test]
fn formulas_are_the_known_ones() {
    let chain = gilbert_elliott(0.02, 0.2, 0.01, 0.5);
    assert!((chain.mean_loss() - (0.2 * 0.01 + 0.02 * 0.5) / 0.22).abs() < 1e-15);
    // All lost in the bad state, nothing in the good: a burst is a stay, 1/r.
    let simple = gilbert_elliott(0.02, 0.2, 0.0, 1.0);
    assert!((simple.mean_burst() - 5.0).abs() < 1e-12);
    let bernoulli = ErrorModel::Bernoulli(probability(0.1));
    assert!((bernoulli.mean_burst() - 1.0 / 0.9).abs() < 1e-12);
    // p + r = 1 is independent from attempt to attempt.
    let independent = gilbert_elliott(0.1, 0.9, 0.0, 1.0);
    assert!((independent.mean_burst() - bernoulli.mean_burst()).abs() < 1e-12);
    assert!(ErrorModel::None.mean_loss() == 0.0 && ErrorModel::None.mean_burst() == 0.0);
    assert!(ErrorModel::Bernoulli(probability(1.0)).mean_burst().is_infinite());
}

#[test]
fn a_chain_of_two_states_is_gilbert_elliott() {
    let hidden = HiddenMarkov::new(&[vec![0.95, 0.05], vec![0.1, 0.9]], &[0.02, 0.6]).unwrap();
    let chain = gilbert_elliott(0.05, 0.1, 0.02, 0.6);
    assert!((hidden.mean_loss() - chain.mean_loss()).abs() < 1e-14);
    assert!((hidden.mean_burst() - chain.mean_burst()).abs() < 1e-12);
    assert!((hidden.stationary()[1] - chain.bad_share()).abs() < 1e-14);
}

#[test]
fn stationary_shares_are_left_unchanged_by_a_step() {
    let chain = three_states();
    let rows = [[0.9, 0.08, 0.02], [0.3, 0.6, 0.1], [0.05, 0.15, 0.8]];
    for (j, &share) in chain.stationary().iter().enumerate() {
        let after: f64 = (0..3).map(|i| chain.stationary()[i] * rows[i][j]).sum();
        assert!((after - share).abs() < 1e-14);
    }
    assert!((chain.stationary().iter().sum::<f64>() - 1.0).abs() < 1e-14);
}

#[test]
fn a_mean_and_a_burst_give_a_chain_or_a_reason() {
    let chain = GilbertElliott::with_mean_burst(0.05, 4.0, Step::Attempt).unwrap();
    assert!((chain.mean_loss() - 0.05).abs() < 1e-15 && (chain.mean_burst() - 4.0).abs() < 1e-12);
    let nothing = GilbertElliott::with_mean_burst(0.0, 4.0, Step::Attempt).unwrap();
    assert!(nothing.mean_loss() == 0.0 && nothing.mean_burst() == 0.0);
    for (loss, burst, part) in [
        (0.1, 0.5, "at least 1, not 0.5"),
        (0.1, f64::NAN, "at least 1"),
        (1.0, 3.0, "below 1, not 1"),
        (-0.1, 3.0, "below 1, not -0.1"),
        (0.9, 3.0, "bursts longer than 3 steps: at least 9"),
    ] {
        let error = GilbertElliott::with_mean_burst(loss, burst, Step::Attempt).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn small_frames_pass_and_do_not_move_the_chain() {
    let model = ErrorModel::GilbertElliott(gilbert_elliott(0.3, 0.3, 0.1, 0.9));
    let errors = FrameErrors { model, above: 300 };
    let process = || FrameErrorProcess::new(errors.clone(), Streams::new(5).stream("e"), Instant::ZERO);
    let (mut alone, mut mixed) = (process(), process());
    let now = Instant::ZERO;
    let mut failures = 0;
    for _ in 0..200 {
        assert!(!mixed.fails(now, 300) && !mixed.fails(now, 0));
        let is_lost = alone.fails(now, 1460);
        assert_eq!(mixed.fails(now, 1460), is_lost);
        failures += u32::from(is_lost);
    }
    assert!(failures > 50 && failures < 150);
    let mut never = FrameErrorProcess::new(FrameErrors::NONE, Streams::new(5).stream("e"), Instant::ZERO);
    assert!((0..100).all(|_| !never.fails(now, 2000)));
}

#[test]
fn a_chain_per_time_step_bursts_in_time() {
    let step = Step::Every(Duration::from_millis(1));
    let chain = GilbertElliott { step, ..gilbert_elliott(0.02, 0.2, 0.0, 1.0) };
    let model = ErrorModel::GilbertElliott(chain);
    // An attempt per step: as per attempt. Ten attempts per step: ten times as many in a row.
    let (loss, burst) = measured(model.clone(), 1_000_000, Duration::from_millis(1));
    assert!(
        (loss / chain.mean_loss() - 1.0).abs() < 0.03 && (burst / 5.0 - 1.0).abs() < 0.03,
        "{loss} {burst}"
    );
    let (loss, burst) = measured(model.clone(), 4_000_000, Duration::from_micros(100));
    assert!(
        (loss / chain.mean_loss() - 1.0).abs() < 0.03 && (burst / 50.0 - 1.0).abs() < 0.03,
        "{loss} {burst}"
    );
    // One per second: all is forgotten in between.
    let (loss, burst) = measured(model, 1_000_000, Duration::from_secs(1));
    let independent = 1.0 / (1.0 - chain.mean_loss());
    assert!((loss / chain.mean_loss() - 1.0).abs() < 0.03 && (burst / independent - 1.0).abs() < 0.03);
}

#[test]
fn several_steps_at_once_are_several_steps() {
    let chain = gilbert_elliott(0.07, 0.4, 0.0, 1.0);
    for is_bad in [false, true] {
        let mut by_hand = if is_bad { 1.0 } else { 0.0 };
        for steps in 0..20 {
            assert!((bad_after(&chain, is_bad, steps) - by_hand).abs() < 1e-12);
            by_hand = by_hand * 0.6 + (1.0 - by_hand) * 0.07;
        }
    }
    // A chain that always flips: (1 - p - r) is -1.
    let flip = gilbert_elliott(1.0, 1.0, 0.0, 1.0);
    assert_eq!((bad_after(&flip, false, 7), bad_after(&flip, false, 8)), (1.0, 0.0));
}

#[test]
fn what_is_no_model_is_refused_with_its_state() {
    let of = |rows: &[&[f64]], loss: &[f64]| {
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
        HiddenMarkov::new(&rows, loss).unwrap_err().to_string()
    };
    assert!(of(&[], &[]).contains("at least one state"));
    assert!(of(&[&[1.0]], &[0.1, 0.2]).contains("expected 2 rows"));
    assert!(of(&[&[0.5, 0.5], &[1.0]], &[0.1, 0.2]).contains("state 2 needs 2"));
    assert!(of(&[&[0.5, 0.5], &[0.5, 0.4]], &[0.1, 0.2]).contains("state 2 add up to 0.9"));
    assert!(of(&[&[1.5, -0.5], &[0.5, 0.5]], &[0.1, 0.2]).contains("state 1: 1.5"));
    assert!(of(&[&[0.5, 0.5], &[0.5, 0.5]], &[0.1, f64::NAN]).contains("state 2: NaN"));
    assert!(of(&[&[1.0, 0.0], &[0.5, 0.5]], &[0.1, 0.2]).contains("state 2 cannot be reached from state 1"));
    assert_eq!(HiddenMarkov::new(&[vec![1.0]], &[0.25]).unwrap().mean_loss().to_bits(), 0.25f64.to_bits());
}

/// The channels that the papers' authors measured: state, its frame error probability, transitions
/// per frame. Numbers from their public simulator.
const MEASURED: &str = include_str!("measured.csv");

fn recorded(name: &str) -> HiddenMarkov {
    let rows = MEASURED.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let states: Vec<Vec<f64>> = rows
        .filter(|row| row[0] == name)
        .map(|row| row[2..].iter().map(|text| text.parse().expect("a number")).collect())
        .collect();
    let loss: Vec<f64> = states.iter().map(|state| state[0]).collect();
    // Their rows are rounded, and some add up to 1 only in five digits.
    let whole = |row: &[f64]| row.iter().map(|part| part / row.iter().sum::<f64>()).collect();
    let transitions: Vec<Vec<f64>> = states.iter().map(|state| whole(&state[1..])).collect();
    HiddenMarkov::new(&transitions, &loss).expect("a chain")
}

#[test]
fn the_authors_channels_lose_as_much_as_they_say() {
    for (name, frame_errors) in [("12", 0.150), ("09", 0.287), ("05", 0.515)] {
        let chain = recorded(name);
        assert_eq!(chain.states(), 4);
        assert!((chain.mean_loss() - frame_errors).abs() < 0.000_6, "{name}: {}", chain.mean_loss());
        // Attempts fail in runs: independent ones would do so 1 / (1 - p) times in a row.
        assert!(chain.mean_burst() > 1.5 / (1.0 - frame_errors), "{name}: {}", chain.mean_burst());
    }
}
