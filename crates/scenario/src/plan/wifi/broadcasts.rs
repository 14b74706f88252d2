//! What stations send to all that hear them.

use super::WifiPlan;
use crate::error::ScenarioError;
use crate::plan::context::Context;
use crate::plan::{Interval, UDP_HEADERS};
use crate::schema::quantity::{Name, Time};
use crate::schema::table::Value as _;
use crate::schema::wifi::{BroadcastTable, WifiTable};
use ropewalk_units::{Duration, Instant};

/// Payload octets, unless the file says otherwise.
const PACKET: u32 = 100;

/// Each has a port of its own.
const MOST_BROADCASTS: usize = 1000;

/// Time between two datagrams, unless the file says otherwise.
const INTERVAL: Duration = Duration::from_secs(1);

/// Datagrams that stations send to all that hear them.
#[derive(Clone, PartialEq, Debug)]
pub struct BroadcastPlan {
    /// Its name.
    pub name: String,
    /// The stations that send; `None`: all with a radio on the channel.
    pub from: Option<Vec<String>>,
    /// The channel.
    pub channel: u8,
    /// Payload octets of one datagram.
    pub packet: u32,
    /// From one datagram of a station to its next.
    pub interval: Interval,
    /// From when on.
    pub start: Instant,
    /// Each station's first one is so much later at most.
    pub spread: Duration,
    /// For how long; `None`: until the end.
    pub duration: Option<Duration>,
}

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
    tables.map(|(name, table)| Draft { context, plan, table, name: name.as_str() }.broadcast()).collect()
}

struct Draft<'a> {
    context: &'a Context<'a>,
    plan: &'a WifiPlan,
    table: &'a BroadcastTable,
    name: &'a str,
}

impl Draft<'_> {
    fn broadcast(&self) -> Result<BroadcastPlan, ScenarioError> {
        let channel = self.channel()?;
        let interval = self.interval()?;
        if self.table.duration.is_some_and(|time| time.0.is_zero()) {
            return Err(self.wrong("duration", "nothing would be sent in no time", "a time above zero"));
        }
        Ok(BroadcastPlan {
            name: self.name.to_owned(),
            from: self.from(channel)?,
            channel,
            packet: self.packet()?,
            interval,
            start: Instant::ZERO + self.start()?,
            spread: self.table.spread.map_or(interval.mean(), |time| time.0),
            duration: self.table.duration.map(|time| time.0),
        })
    }

    fn key(&self, key: &str) -> String {
        format!("wifi.broadcasts.{}.{key}", self.name)
    }

    fn wrong(&self, key: &str, message: impl Into<String>, expected: impl Into<String>) -> ScenarioError {
        self.context.wrong(&self.key(key), message, expected)
    }

    fn channel(&self) -> Result<u8, ScenarioError> {
        let Some(channel) = self.table.channel else { return Ok(self.plan.channels[0]) };
        let own = self.plan.stations.iter().flat_map(|station| &station.channels);
        let mut known: Vec<u8> = own.copied().collect();
        if self.plan.deployment.is_some() {
            known.extend(&self.plan.channels);
        }
        known.sort_unstable();
        known.dedup();
        if known.contains(&channel) {
            return Ok(channel);
        }
        let listed: Vec<String> = known.iter().map(u8::to_string).collect();
        let message = format!("no station has a radio on channel {channel}");
        Err(self.wrong("channel", message, format!("one of {}", listed.join(", "))))
    }

    fn from(&self, channel: u8) -> Result<Option<Vec<String>>, ScenarioError> {
        let Some(names) = &self.table.from else { return Ok(None) };
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
        Ok(Some(names.iter().map(|name| name.0.clone()).collect()))
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

    fn packet(&self) -> Result<u32, ScenarioError> {
        let Some(size) = self.table.packet_size else { return Ok(PACKET) };
        let (octets, largest) = (size.0.get(), ropewalk_wifi::MAX_PACKET - UDP_HEADERS);
        u32::try_from(octets).ok().filter(|octets| (1..=largest).contains(octets)).ok_or_else(|| {
            let message = format!("{octets} octets of payload fit no frame");
            self.wrong("packet_size", message, format!("1 B to {largest} B"))
        })
    }

    fn interval(&self) -> Result<Interval, ScenarioError> {
        let interval = self.table.interval.as_ref().map_or(Interval::Constant(INTERVAL), Interval::read);
        if interval.mean().is_zero() {
            return Err(self.wrong("interval", "no time between two datagrams", "a time above zero"));
        }
        Ok(interval)
    }

    fn start(&self) -> Result<Duration, ScenarioError> {
        let end = self.context.file.scenario.duration.0;
        let Time(start) = self.table.start.unwrap_or(Time(Duration::ZERO));
        if start >= end {
            let message = format!("the first would be sent at {start}, but the simulation ends at {end}");
            return Err(self.wrong("start", message, "a time before the end"));
        }
        Ok(start)
    }
}
