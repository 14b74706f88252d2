use super::*;
use crate::id::PathId;

fn two() -> Vec<PathConfig> {
    vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))]
}

fn wrr() -> SchedulerConfig {
    SchedulerConfig::WeightedRoundRobin(WrrConfig::default())
}

fn cost_first() -> SchedulerConfig {
    SchedulerConfig::CostFirst(CostFirstConfig::default())
}

fn rate_aware() -> SchedulerConfig {
    SchedulerConfig::RateAware
}

/// The key that a changed configuration is refused for.
fn key_of(scheduler: SchedulerConfig, change: impl FnOnce(&mut Config)) -> String {
    let mut config = Config::new(two(), scheduler);
    assert_eq!(config.validate(), Ok(()));
    change(&mut config);
    config.validate().expect_err("out of bounds").key().to_owned()
}

#[test]
fn defaults_of_every_scheduler_are_valid() {
    let flow_aware = SchedulerConfig::FlowAware(FlowAwareConfig::default());
    for scheduler in [wrr(), cost_first(), rate_aware(), SchedulerConfig::Redundant, flow_aware] {
        assert_eq!(Config::new(two(), scheduler).validate(), Ok(()));
    }
}

#[test]
fn paths_are_ordered_by_cost() {
    let paths =
        vec![PathConfig::new("c", None), PathConfig::new("b", Some(7)), PathConfig::new("a", Some(3))];
    assert_eq!(Config::new(paths, rate_aware()).by_cost(), [PathId(2), PathId(1), PathId(0)]);
}

#[test]
fn errors_name_the_key() {
    assert_eq!(key_of(rate_aware(), |c| c.paths.clear()), "paths");
    assert_eq!(key_of(rate_aware(), |c| c.paths = vec![PathConfig::default(); 9]), "paths");
    assert_eq!(key_of(rate_aware(), |c| c.paths[1].name.clear()), "paths[1].name");
    assert_eq!(key_of(rate_aware(), |c| c.paths[1].name = "dsl".into()), "paths[1].name");
    assert_eq!(key_of(cost_first(), |c| c.paths[1].cost = None), "paths.lte.cost");
    assert_eq!(key_of(cost_first(), |c| c.paths[1].cost = Some(1)), "paths.lte.cost");
    assert_eq!(key_of(cost_first(), |c| c.paths[1].max_weight = Some(101)), "paths.lte.max_weight");
    assert_eq!(key_of(cost_first(), |c| c.paths[0].weight = Some(1)), "paths.dsl.weight");
    assert_eq!(key_of(wrr(), |c| c.paths[0].cost = None), "paths.dsl.cost");
    assert_eq!(key_of(wrr(), |c| c.paths.truncate(1)), "paths");
    assert_eq!(key_of(wrr(), |c| c.paths.push(PathConfig::new("x", Some(2)))), "paths.x.cost");
    assert_eq!(key_of(wrr(), |c| c.paths[1].weight = Some(51)), "paths.lte.weight");
    assert_eq!(key_of(wrr(), |c| c.paths[0].weight = Some(0)), "paths.dsl.weight");
    assert_eq!(key_of(wrr(), |c| c.paths[0].max_weight = Some(60)), "paths.dsl.max_weight");
    assert_eq!(key_of(wrr(), |c| c.paths[1].max_weight = Some(10_001)), "paths.lte.max_weight");
    assert_eq!(key_of(wrr(), |c| c.report_interval = Duration::ZERO), "report_interval");
    assert_eq!(key_of(wrr(), |c| c.loss_timeout = Duration::from_secs(11)), "loss_timeout");
    assert_eq!(key_of(wrr(), |c| c.overhead = 257), "overhead");
    assert_eq!(key_of(wrr(), |c| c.keepalive.interval = Duration::ZERO), "keepalive.interval");
    assert_eq!(key_of(wrr(), |c| c.keepalive.suspect_after = Duration::ZERO), "keepalive.suspect_after");
    assert_eq!(key_of(wrr(), |c| c.keepalive.down_after = Duration::ZERO), "keepalive.down_after");
    assert_eq!(key_of(wrr(), |c| c.keepalive.answers_to_return = 0), "keepalive.answers_to_return");
    assert_eq!(key_of(wrr(), |c| c.resequencer.max_packets = 1), "resequencer.max_packets");
    assert_eq!(key_of(wrr(), |c| c.resequencer.flow_buckets = 3), "resequencer.flow_buckets");
    assert_eq!(key_of(wrr(), |c| c.resequencer.path_reordering = 9), "resequencer.path_reordering");
    let long = Duration::from_secs(11);
    assert_eq!(key_of(wrr(), |c| c.resequencer.timeout = Some(long)), "resequencer.timeout");
    assert_eq!(key_of(wrr(), |c| c.resequencer.min_timeout = long), "resequencer.min_timeout");
    assert_eq!(key_of(wrr(), |c| c.resequencer.max_timeout = long), "resequencer.max_timeout");
}

#[test]
fn weights_that_no_one_would_heed_are_refused() {
    let flow_aware = SchedulerConfig::FlowAware(FlowAwareConfig::default());
    for scheduler in [rate_aware(), SchedulerConfig::Redundant, flow_aware] {
        assert_eq!(key_of(scheduler, |c| c.paths[1].max_weight = Some(10)), "paths.lte.max_weight");
        assert_eq!(key_of(scheduler, |c| c.paths[0].weight = Some(10)), "paths.dsl.weight");
    }
}

#[test]
fn weights_in_force_are_the_given_and_the_defaults() {
    let weights = |config: &Config| -> Vec<(Option<u32>, Option<u32>)> {
        let paths = (0..config.paths.len()).map(|place| config.explicit_path(PathId(place as u8)));
        paths.map(|path| (path.weight, path.max_weight)).collect()
    };
    let mut paths = two();
    paths.insert(0, PathConfig::new("satellite", Some(3)));
    paths[0].max_weight = Some(7);
    let mut config = Config::new(paths, wrr());
    assert_eq!(config.validate(), Ok(()));
    assert_eq!(weights(&config), [(Some(0), Some(7)), (Some(50), None), (Some(0), Some(50))]);
    config.scheduler = cost_first();
    assert_eq!(weights(&config), [(None, Some(7)), (None, Some(100)), (None, Some(100))]);
    config.scheduler = rate_aware();
    assert_eq!(weights(&config)[1..], [(None, None), (None, None)]);
}

#[test]
fn scheduler_parameters_have_bounds() {
    for gain in [0.0, -1.0, 101.0, f64::NAN] {
        let scheduler = SchedulerConfig::WeightedRoundRobin(WrrConfig { gain, ..WrrConfig::default() });
        assert_eq!(key_of(wrr(), |c| c.scheduler = scheduler), "scheduler.gain");
    }
    let queue_target = Duration::ZERO;
    let none = SchedulerConfig::CostFirst(CostFirstConfig { queue_target });
    assert_eq!(key_of(cost_first(), |c| c.scheduler = none), "scheduler.queue_target");
}

#[test]
fn an_error_says_what_was_expected() {
    let error = Config::new(Vec::new(), rate_aware()).validate().unwrap_err();
    assert_eq!(error.to_string(), "paths: expected 1 to 8 paths, not 0");
}

#[test]
fn an_error_between_two_keys_tells_both() {
    let error = |change: fn(&mut Config)| {
        let mut config = Config::new(two(), rate_aware());
        change(&mut config);
        let error = config.validate().expect_err("they contradict each other");
        let conflict = error.conflict().expect("with another key").clone();
        (error.key().to_owned(), conflict.value, conflict.with)
    };
    let told = |key: &str, value: &str, with| (key.to_owned(), value.to_owned(), with);
    assert_eq!(
        error(|c| c.keepalive.interval = Duration::from_millis(65)),
        told("keepalive.suspect_after", "130 ms", "keepalive.interval")
    );
    assert_eq!(
        error(|c| c.keepalive.suspect_after = Duration::from_millis(241)),
        told("keepalive.down_after", "240 ms", "keepalive.suspect_after")
    );
    assert_eq!(
        error(|c| c.resequencer.max_timeout = Duration::from_millis(1)),
        told("resequencer.min_timeout", "5 ms", "resequencer.max_timeout")
    );
    let mut config = Config::new(two(), rate_aware());
    config.overhead = 257;
    assert_eq!(config.validate().expect_err("too much").conflict(), None);
}
