//! Applications: defaults and checks.

use super::context::Place;
use super::{Application, Interval, Protocol, UDP_HEADERS};
use crate::error::ScenarioError;
use crate::schema::connection::{
    ApplicationTable, BulkTable, ConstantRateTable, IntervalTable, OnOffTable, RateChangeTable,
    RequestResponseTable,
};
use crate::schema::quantity::{BitRate, Size, Time};
use ropewalk_units::{Duration, Instant, Rate};

/// What the connection at `place` carries over a protocol, on paths with this MTU.
pub(super) fn application(
    place: &Place<'_>,
    given: Option<&ApplicationTable>,
    protocol: &Protocol,
    mtu: u32,
) -> Result<Application, ScenarioError> {
    let table = given.cloned().unwrap_or(ApplicationTable::Bulk(BulkTable::default()));
    let udp = matches!(protocol, Protocol::Udp);
    let largest = if udp { mtu - UDP_HEADERS } else { u32::MAX };
    let check = Check { place, largest };
    match table {
        ApplicationTable::Bulk(_) | ApplicationTable::RequestResponse(_) if udp => {
            let message = "UDP has no flow control: it cannot carry this application";
            let at = if given.is_some() { "application" } else { "protocol" };
            let expected = "application = { kind = \"constant-rate\", … } or { kind = \"on-off\", … }";
            Err(place.wrong(at, message, expected))
        }
        ApplicationTable::Bulk(table) => check.bulk(&table),
        ApplicationTable::ConstantRate(table) => check.constant_rate(&table),
        ApplicationTable::OnOff(table) => check.on_off(&table),
        ApplicationTable::RequestResponse(table) => check.request_response(&table),
    }
}

struct Check<'a> {
    /// The connection's.
    place: &'a Place<'a>,
    /// Greatest payload of one packet.
    largest: u32,
}

impl Check<'_> {
    fn bulk(&self, table: &BulkTable) -> Result<Application, ScenarioError> {
        let bytes = table.bytes.map(|size| self.size("bytes", size)).transpose()?;
        Ok(Application::Bulk { bytes, duration: self.duration(table.duration)? })
    }

    fn constant_rate(&self, table: &ConstantRateTable) -> Result<Application, ScenarioError> {
        Ok(Application::ConstantRate {
            rate: self.rate("rate", table.rate)?,
            packet: self.packet(table.packet_size)?,
            duration: self.duration(table.duration)?,
            changes: self.rate_changes(&table.changes)?,
        })
    }

    fn rate_changes(&self, tables: &[RateChangeTable]) -> Result<Vec<(Instant, Rate)>, ScenarioError> {
        let mut changes = Vec::with_capacity(tables.len());
        for (index, table) in tables.iter().enumerate() {
            let rate = self.rate(&format!("changes[{index}].rate"), table.rate)?;
            let at = Instant::ZERO + table.at.0;
            if changes.last().is_some_and(|&(before, _)| at <= before) {
                let key = format!("changes[{index}].at");
                return Err(self.wrong(
                    &key,
                    "this change does not come after the one before it",
                    "a later time",
                ));
            }
            changes.push((at, rate));
        }
        Ok(changes)
    }

    fn on_off(&self, table: &OnOffTable) -> Result<Application, ScenarioError> {
        let second = Interval::Exponential(Duration::from_secs(1));
        Ok(Application::OnOff {
            rate: self.rate("rate", table.rate)?,
            packet: self.packet(table.packet_size)?,
            on: self.interval("on", table.on.as_ref(), second, false)?,
            off: self.interval("off", table.off.as_ref(), second, true)?,
            duration: self.duration(table.duration)?,
        })
    }

    fn request_response(&self, table: &RequestResponseTable) -> Result<Application, ScenarioError> {
        let size = |key: &str, size: Option<Size>, default| match size {
            Some(size) => self.size(key, size),
            None => Ok(default),
        };
        if table.count == Some(0) {
            return Err(self.wrong("count", "no exchange at all", "a number from 1"));
        }
        let none = Interval::Constant(Duration::ZERO);
        Ok(Application::RequestResponse {
            request: size("request", table.request, 400)?,
            response: size("response", table.response, 100_000)?,
            think: self.interval("think", table.think.as_ref(), none, true)?,
            count: table.count,
        })
    }

    fn wrong(&self, key: &str, message: impl Into<String>, expected: impl Into<String>) -> ScenarioError {
        self.place.wrong(&format!("application.{key}"), message, expected)
    }

    fn size(&self, key: &str, size: Size) -> Result<u64, ScenarioError> {
        match size.0.get() {
            0 => Err(self.wrong(key, "nothing would be transferred", "at least 1 B")),
            bytes => Ok(bytes),
        }
    }

    fn rate(&self, key: &str, rate: BitRate) -> Result<Rate, ScenarioError> {
        if rate.0 == Rate::ZERO {
            return Err(self.wrong(key, "nothing would be sent at a rate of zero", "a rate above zero"));
        }
        Ok(rate.0)
    }

    fn packet(&self, size: Option<Size>) -> Result<u32, ScenarioError> {
        let largest = self.largest;
        let Some(size) = size else { return Ok(1400.min(largest)) };
        let bytes = self.size("packet_size", size)?;
        u32::try_from(bytes).ok().filter(|&bytes| bytes <= largest).ok_or_else(|| {
            let message = format!("a packet of {bytes} octets does not fit the MTU of its path");
            self.wrong("packet_size", message, format!("at most {largest} B of payload"))
        })
    }

    fn duration(&self, time: Option<Time>) -> Result<Option<Duration>, ScenarioError> {
        match time {
            Some(time) if time.0.is_zero() => {
                Err(self.wrong("duration", "nothing would be sent in no time", "a time above zero"))
            }
            _ => Ok(time.map(|time| time.0)),
        }
    }

    fn interval(
        &self,
        key: &str,
        table: Option<&IntervalTable>,
        default: Interval,
        zero: bool,
    ) -> Result<Interval, ScenarioError> {
        let Some(table) = table else { return Ok(default) };
        let interval = Interval::new(table);
        if interval.mean().is_zero() && !(zero && matches!(interval, Interval::Constant(_))) {
            return Err(self.wrong(key, "a time of zero cannot be here", "a time above zero"));
        }
        Ok(interval)
    }
}
