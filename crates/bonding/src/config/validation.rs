//! The bounds of every key.

use super::{Config, ConfigError, KeepaliveConfig, PathConfig, ResequencerConfig, SchedulerConfig};
use crate::id::MAX_PATHS;
use ropewalk_units::Duration;

const WEIGHT_MOST: u32 = 10_000;

fn check(holds: bool, key: &str, expected: &str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::new(key, expected)) }
}

fn within(value: Duration, least: Duration, most: Duration, key: &str) -> Result<(), ConfigError> {
    check((least..=most).contains(&value), key, &format!("{least} to {most}, not {value}"))
}

impl Config {
    /// Checks that every key is within its bounds.
    ///
    /// # Errors
    ///
    /// The first key that is not, and what was expected.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_paths()?;
        self.validate_scheduler()?;
        self.resequencer.validate()?;
        within(self.report_interval, Duration::from_millis(1), Duration::from_secs(1), "report_interval")?;
        within(self.loss_timeout, Duration::ZERO, Duration::from_secs(10), "loss_timeout")?;
        check(self.overhead <= 256, "overhead", "at most 256 octets")?;
        self.keepalive.validate()
    }

    fn validate_paths(&self) -> Result<(), ConfigError> {
        let count = self.paths.len();
        check((1..=MAX_PATHS).contains(&count), "paths", &format!("1 to {MAX_PATHS} paths, not {count}"))?;
        for (place, path) in self.paths.iter().enumerate() {
            let name = format!("paths[{place}].name");
            check(!path.name.is_empty(), &name, "a name that is not empty")?;
            let is_new = self.paths[..place].iter().all(|other| other.name != path.name);
            check(is_new, &name, "a name that no other path has")?;
            let key = |field: &str| format!("paths.{}.{field}", path.name);
            let most = path.max_weight.unwrap_or(WEIGHT_MOST);
            check(most <= WEIGHT_MOST, &key("max_weight"), "at most 10000")?;
            check(path.weight.unwrap_or(0) <= most, &key("weight"), "at most max_weight (and 10000)")?;
            path.validate_quota(&key)?;
        }
        Ok(())
    }

    fn validate_costs(&self) -> Result<(), ConfigError> {
        for (place, path) in self.paths.iter().enumerate() {
            let key = format!("paths.{}.cost", path.name);
            check(path.cost.is_some(), &key, "a rank of cost, which this scheduler fills paths by")?;
            let is_new = self.paths[..place].iter().all(|other| other.cost != path.cost);
            check(is_new, &key, "a rank that no other path has")?;
        }
        Ok(())
    }

    /// Checks the weights for weighted round robin.
    fn validate_weights(&self) -> Result<(), ConfigError> {
        let order = self.by_cost();
        let fixed = &self.paths[order[0].index()];
        let key = |field: &str| format!("paths.{}.{field}", fixed.name);
        check(fixed.weight != Some(0), &key("weight"), "w_fixed of at least 1")?;
        let expected = "none: the cheapest path's weight is fixed";
        check(fixed.max_weight.is_none(), &key("max_weight"), expected)?;
        for &id in &order[1..] {
            let path = self.explicit_path(id);
            let key = format!("paths.{}.weight", path.name);
            check(path.weight <= path.max_weight, &key, "at most max_weight, which is 50 if not given")?;
        }
        Ok(())
    }

    /// Checks that no weight is given to a scheduler that does not use it.
    fn validate_no_weights(&self) -> Result<(), ConfigError> {
        for path in &self.paths {
            let key = |field: &str| format!("paths.{}.{field}", path.name);
            check(path.weight.is_none(), &key("weight"), "none: only weighted round robin has it")?;
            let expected = "none: only weighted round robin and cost-first have it";
            check(path.max_weight.is_none(), &key("max_weight"), expected)?;
        }
        Ok(())
    }

    fn validate_scheduler(&self) -> Result<(), ConfigError> {
        let least = Duration::from_millis(1);
        match &self.scheduler {
            SchedulerConfig::WeightedRoundRobin(wrr) => {
                check(self.paths.len() >= 2, "paths", "two paths at least, to share out among")?;
                self.validate_costs()?;
                self.validate_weights()?;
                check(wrr.gain > 0.0 && wrr.gain <= 100.0, "scheduler.gain", "above 0, at most 100")?;
                within(
                    wrr.decrement_delay,
                    Duration::ZERO,
                    Duration::from_secs(60),
                    "scheduler.decrement_delay",
                )
            }
            SchedulerConfig::CostFirst(cost_first) => {
                self.validate_costs()?;
                for path in &self.paths {
                    let key = format!("paths.{}.max_weight", path.name);
                    let share = path.max_weight.unwrap_or(100);
                    check((1..=100).contains(&share), &key, "1 to 100 percent of the packets")?;
                    let key = format!("paths.{}.weight", path.name);
                    check(path.weight.is_none(), &key, "none: cost-first weights are measured")?;
                }
                within(cost_first.queue_target, least, Duration::from_secs(1), "scheduler.queue_target")
            }
            SchedulerConfig::RateAware | SchedulerConfig::Redundant => self.validate_no_weights(),
            SchedulerConfig::FlowAware(flow_aware) => {
                self.validate_no_weights()?;
                within(flow_aware.queue_target, least, Duration::from_secs(1), "scheduler.queue_target")?;
                within(flow_aware.idle_after, Duration::ZERO, Duration::from_secs(60), "scheduler.idle_after")
            }
        }
    }
}

impl PathConfig {
    fn validate_quota(&self, key: &impl Fn(&str) -> String) -> Result<(), ConfigError> {
        check(self.quota.is_none_or(|octets| octets >= 1_000_000), &key("quota"), "1 MB or more")?;
        let is_good =
            |period| (Duration::from_secs(1)..=Duration::from_secs(366 * 24 * 3600)).contains(&period);
        check(self.quota_period.is_none_or(is_good), &key("quota_period"), "1 s to 1 year")?;
        let expected = "none: without `quota` there is nothing to last or to be spent";
        check(self.quota.is_some() || self.quota_period.is_none(), &key("quota_period"), expected)?;
        check(self.quota.is_some() || self.quota_spent.is_none(), &key("quota_spent"), expected)
    }
}

impl ResequencerConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let most = Duration::from_secs(10);
        if let Some(timeout) = self.timeout {
            within(timeout, Duration::ZERO, most, "resequencer.timeout")?;
        }
        within(self.max_timeout, Duration::ZERO, most, "resequencer.max_timeout")?;
        let (min, max) = (self.min_timeout, self.max_timeout);
        let expected = format!("{max} or less, as `max_timeout`, not {min}");
        check(min <= max, "resequencer.min_timeout", &expected)
            .map_err(|error| error.against(min, "resequencer.max_timeout"))?;
        check((16..=65_536).contains(&self.max_packets), "resequencer.max_packets", "16 to 65536")?;
        let buckets = self.flow_buckets;
        let is_good = buckets.is_power_of_two() && buckets <= 4096;
        check(is_good, "resequencer.flow_buckets", "a power of two, at most 4096")?;
        check((1..=8).contains(&self.path_reordering), "resequencer.path_reordering", "1 to 8 packets")
    }
}

impl KeepaliveConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        within(self.interval, Duration::from_millis(5), Duration::from_secs(10), "keepalive.interval")?;
        let twice = self.interval * 2;
        let expected = format!("more than {twice}, twice `interval`, not {}", self.suspect_after);
        check(self.suspect_after > twice, "keepalive.suspect_after", &expected)
            .map_err(|error| error.against(self.suspect_after, "keepalive.interval"))?;
        let (suspect, down) = (self.suspect_after, self.down_after);
        let expected = format!("{suspect} or more, as `suspect_after`, not {down}");
        check(down >= suspect, "keepalive.down_after", &expected)
            .map_err(|error| error.against(down, "keepalive.suspect_after"))?;
        within(down, Duration::ZERO, Duration::from_secs(60), "keepalive.down_after")?;
        check((1..=100).contains(&self.answers_to_return), "keepalive.answers_to_return", "1 to 100")
    }
}
