//! Broadcasts of stations.

use super::{BroadcastPlan, WifiPlan};
use crate::error::ScenarioError;
use crate::plan::UDP_HEADER;
use crate::plan::context::{Context, every};
use crate::schema::quantity::Name;
use crate::schema::wifi::{BroadcastTable, WifiTable};
use ropewalk_units::{Duration, Instant};

/// Each has a port of its own.
const MOST_BROADCASTS: usize = 1000;

/// All broadcasts, by name.
pub(super) fn broadcasts(
    context: &Context<'_>,
    plan: &WifiPlan,
    table: &WifiTable,
) -> Result<Vec<BroadcastPlan>, ScenarioError> {
    if table.broadcasts.len() > MOST_BROADCASTS {
        let message = format!("{} broadcasts are too many", table.broadcasts.len());
        return Err(context.wrong("wifi.broadcasts", message, format!("at most {MOST_BROADCASTS}")));
    }
    let tables = table.broadcasts.iter();
    every(tables.map(|(name, table)| Draft { context, plan, table, name: name.as_str() }.broadcast()))
}

struct Draft<'a> {
    context: &'a Context<'a>,
    plan: &'a WifiPlan,
    table: &'a BroadcastTable,
    name: &'a str,
}

impl Draft<'_> {
    fn broadcast(&self) -> Result<BroadcastPlan, ScenarioError> {
        let first = self.plan.keys.channels[0];
        let interval = self.table.read(first, Duration::ZERO).interval.mean();
        let plan = BroadcastPlan { name: self.name.to_owned(), ..self.table.read(first, interval) };
        self.check_channel(plan.channel)?;
        if interval.is_zero() {
            return Err(self.wrong("interval", "no time between two datagrams", "a time above zero"));
        }
        if plan.duration.is_some_and(Duration::is_zero) {
            return Err(self.wrong("duration", "nothing would be sent in no time", "a time above zero"));
        }
        self.check_from(plan.channel)?;
        self.check_packet()?;
        self.check_start(plan.start)?;
        Ok(plan)
    }

    fn key(&self, key: &str) -> String {
        format!("wifi.broadcasts.{}.{key}", self.name)
    }

    fn wrong(&self, key: &str, message: impl Into<String>, expected: impl Into<String>) -> ScenarioError {
        self.context.wrong(&self.key(key), message, expected)
    }

    fn check_channel(&self, channel: u8) -> Result<(), ScenarioError> {
        if self.table.channel.is_none() {
            return Ok(());
        }
        let own = self.plan.stations.iter().flat_map(|station| &station.channels);
        let mut known: Vec<u8> = own.copied().collect();
        if self.plan.deployment.is_some() {
            known.extend(&self.plan.keys.channels);
        }
        known.sort_unstable();
        known.dedup();
        if known.contains(&channel) {
            return Ok(());
        }
        let listed: Vec<String> = known.iter().map(u8::to_string).collect();
        let message = format!("no station has a radio on channel {channel}");
        Err(self.wrong("channel", message, format!("one of {}", listed.join(", "))))
    }

    fn check_from(&self, channel: u8) -> Result<(), ScenarioError> {
        let Some(names) = &self.table.from else { return Ok(()) };
        if names.is_empty() {
            return Err(self.wrong(
                "from",
                "no station would send",
                "at least one station, or no key `from`",
            ));
        }
        for (index, name) in names.iter().enumerate() {
            self.check_station(&format!("from[{index}]"), name, channel)?;
            if names[..index].contains(name) {
                let message = format!("`{}` is there twice", name.as_str());
                return Err(self.wrong(&format!("from[{index}]"), message, "each station once"));
            }
        }
        Ok(())
    }

    fn check_station(&self, key: &str, name: &Name, channel: u8) -> Result<(), ScenarioError> {
        let Some(channels) = self.plan.channels_of(name.as_str()) else {
            return Err(super::routes::unknown(self.context, self.plan, &self.key(key), name));
        };
        // A station without a radio is refused itself.
        if channels.contains(&channel) || channels.is_empty() {
            return Ok(());
        }
        let listed: Vec<String> = channels.iter().map(u8::to_string).collect();
        let message = format!("`{}` has no radio on channel {channel}", name.as_str());
        let expected = format!("a station that has one; its channels: {}", listed.join(", "));
        Err(self.wrong(key, message, expected))
    }

    fn check_packet(&self) -> Result<(), ScenarioError> {
        let Some(size) = self.table.packet_size else { return Ok(()) };
        let headers = self.context.address_family().header() + UDP_HEADER;
        let (octets, largest) = (size.0.get(), u64::from(ropewalk_wifi::MAX_PACKET - headers));
        if (1..=largest).contains(&octets) {
            return Ok(());
        }
        let message = format!("{octets} octets of payload fit no frame");
        Err(self.wrong("packet_size", message, format!("1 B to {largest} B")))
    }

    fn check_start(&self, start: Instant) -> Result<(), ScenarioError> {
        let (start, end) = (start - Instant::ZERO, self.context.file.scenario.duration.0);
        if start >= end {
            let message = format!("the first would be sent at {start}, but the simulation ends at {end}");
            return Err(self.wrong("start", message, "a time before the end"));
        }
        Ok(())
    }
}
