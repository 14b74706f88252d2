//! Checks of queues.

use super::link::{At, Check};
use crate::error::ScenarioError;
use crate::schema::queue::{FqCodelTable, QueueTable, RedTable};
use ropewalk_sim::QueueLimit;
use ropewalk_units::Duration;

impl Check for QueueTable {
    fn check(&self, at: &At<'_>) -> Result<(), ScenarioError> {
        match self {
            Self::DropTail(table) => at.limit(table.read().limit),
            Self::Red(table) => at.red(table),
            Self::Codel(table) => {
                let keys = table.read();
                at.limit(keys.limit)?;
                at.times(keys.target, keys.interval)
            }
            Self::FqCodel(table) => at.fq_codel(table),
        }
    }
}

impl At<'_> {
    /// The path of a key of the table here, or that of the table itself if a short form stands here.
    fn inner(&self, name: &str) -> String {
        let path = format!("{}.{name}", self.key);
        if self.context.document.find(&path).is_some() { path } else { self.key.clone() }
    }

    fn wrong(&self, name: &str, message: String, expected: &str) -> Result<(), ScenarioError> {
        Err(self.context.wrong(&self.inner(name), message, expected))
    }

    fn limit(&self, limit: QueueLimit) -> Result<(), ScenarioError> {
        match limit {
            QueueLimit::Bytes(bytes) if bytes < u64::from(self.mtu) => {
                let message =
                    format!("a queue of {bytes} octets cannot hold a packet of {} octets", self.mtu);
                self.wrong("limit", message, "at least the link's MTU")
            }
            _ => Ok(()),
        }
    }

    fn red(&self, table: &RedTable) -> Result<(), ScenarioError> {
        let keys = table.read();
        self.limit(keys.limit)?;
        let (min, max, weight) = (keys.min_threshold, keys.max_threshold, keys.weight);
        if !(min.is_finite() && min >= 0.0) {
            let message = format!("{min} is no length of a queue");
            return self.wrong("min_threshold", message, "a number of packets from 0");
        }
        if !(max.is_finite() && max > min) {
            let message = format!("{max} is not above the lower threshold");
            let expected = format!("a number of packets above min_threshold, {min}");
            return self.wrong("max_threshold", message, &expected);
        }
        if !(weight > 0.0 && weight <= 1.0) {
            let message = format!("{weight} is no weight of an average");
            return self.wrong("weight", message, "a number above 0, at most 1");
        }
        Ok(())
    }

    /// CoDel's times.
    fn times(&self, target: Duration, interval: Duration) -> Result<(), ScenarioError> {
        for (name, time) in [("target", target), ("interval", interval)] {
            if time.is_zero() {
                return self.wrong(name, format!("CoDel's {name} cannot be zero"), "a time above zero");
            }
        }
        Ok(())
    }

    fn fq_codel(&self, table: &FqCodelTable) -> Result<(), ScenarioError> {
        let keys = table.read();
        self.limit(keys.limit)?;
        if !(1..=65_536).contains(&keys.flows) {
            return self.wrong("flows", format!("{} flow queues cannot be", keys.flows), "1 to 65536");
        }
        if let Some(octets) = table.quantum.map(|size| size.0.get())
            && !(64..=u64::from(u32::MAX)).contains(&octets)
        {
            return self.wrong("quantum", format!("a quantum of {octets} octets cannot be"), "64 B to 4 GiB");
        }
        self.times(keys.target, keys.interval)
    }
}
