//! Applications: defaults and checks.

use super::context::Place;
use super::{
    Application, Bulk, ConstantRate, Frames, Interval, OnOff, Protocol, RequestResponse, UDP_HEADER, recorded,
};
use crate::error::ScenarioError;
use crate::schema::application::{
    ApplicationTable, BulkTable, ConstantRateTable, FramesTable, OnOffTable, RequestResponseTable,
};
use crate::schema::quantity::Size;
use ropewalk_units::{Duration, Rate};

/// Payload octets of one packet, unless the file says otherwise or the path carries less.
const PACKET: u32 = 1400;

/// What the connection at `place` carries over a protocol, on paths with this MTU.
pub(super) fn application(
    place: &Place<'_>,
    given: Option<&ApplicationTable>,
    protocol: &Protocol,
    mtu: u32,
) -> Result<Application, ScenarioError> {
    let table = given.cloned().unwrap_or(ApplicationTable::Bulk(BulkTable::default()));
    let udp = matches!(protocol, Protocol::Udp);
    let headers = place.context.address_family().header() + UDP_HEADER;
    let largest = if udp { mtu - headers } else { u32::MAX };
    let check = Check { place, largest };
    match table {
        ApplicationTable::Bulk(_) | ApplicationTable::RequestResponse(_) if udp => {
            let message = "UDP has no flow control: it cannot carry this application";
            let at = if given.is_some() { "application" } else { "protocol" };
            let expected = "application = { kind = \"constant-rate\", … } or { kind = \"on-off\", … }";
            Err(place.wrong(at, message, expected))
        }
        ApplicationTable::Frames(_) if !udp => {
            let message = "frames are lost and late, which a stream does not let them be";
            Err(place.wrong("application", message, "protocol = \"udp\", or another application"))
        }
        ApplicationTable::Recorded(_) if !udp => {
            let message = "recorded datagrams leave at their times, which a stream does not let them do";
            Err(place.wrong("application", message, "protocol = \"udp\", or another application"))
        }
        ApplicationTable::Recorded(table) => {
            recorded::recorded(place, &table, largest).map(Application::Recorded)
        }
        ApplicationTable::Bulk(table) => check.bulk(&table).map(Application::Bulk),
        ApplicationTable::ConstantRate(table) => check.constant_rate(&table).map(Application::ConstantRate),
        ApplicationTable::OnOff(table) => check.on_off(&table).map(Application::OnOff),
        ApplicationTable::RequestResponse(table) => {
            check.request_response(&table).map(Application::RequestResponse)
        }
        ApplicationTable::Frames(table) => check.frames(&table).map(Application::Frames),
    }
}

struct Check<'a> {
    /// The connection's.
    place: &'a Place<'a>,
    /// Greatest payload of one packet.
    largest: u32,
}

/// What may be zero.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zero {
    Refused,
    Constant,
}

impl Check<'_> {
    fn bulk(&self, table: &BulkTable) -> Result<Bulk, ScenarioError> {
        let bulk = table.read();
        self.check_size("bytes", bulk.bytes)?;
        self.check_duration(bulk.duration)?;
        Ok(bulk)
    }

    fn constant_rate(&self, table: &ConstantRateTable) -> Result<ConstantRate, ScenarioError> {
        self.check_packet(table.packet_size)?;
        let paced = table.read(PACKET.min(self.largest));
        self.check_rate("rate", paced.rate)?;
        self.check_duration(paced.duration)?;
        for (index, change) in paced.changes.iter().enumerate() {
            self.check_rate(&format!("changes[{index}].rate"), change.rate)?;
            if index > 0 && change.at <= paced.changes[index - 1].at {
                let message = "this change does not come after the one before it";
                return Err(self.wrong(&format!("changes[{index}].at"), message, "a later time"));
            }
        }
        Ok(paced)
    }

    fn on_off(&self, table: &OnOffTable) -> Result<OnOff, ScenarioError> {
        self.check_packet(table.packet_size)?;
        let paced = table.read(PACKET.min(self.largest));
        self.check_rate("rate", paced.rate)?;
        self.check_interval("on", paced.on, Zero::Refused)?;
        self.check_interval("off", paced.off, Zero::Constant)?;
        self.check_duration(paced.duration)?;
        Ok(paced)
    }

    fn request_response(&self, table: &RequestResponseTable) -> Result<RequestResponse, ScenarioError> {
        let exchanges = table.read();
        if exchanges.count == Some(0) {
            return Err(self.wrong("count", "no exchange at all", "a number from 1"));
        }
        self.check_size("request", Some(exchanges.request))?;
        self.check_size("response", Some(exchanges.response))?;
        self.check_interval("think", exchanges.think, Zero::Constant)?;
        Ok(exchanges)
    }

    fn frames(&self, table: &FramesTable) -> Result<Frames, ScenarioError> {
        self.check_packet(table.packet_size)?;
        let frames = table.read(PACKET.min(self.largest));
        if frames.interval.is_zero() {
            return Err(self.wrong("interval", "no time between two frames", "a time above zero"));
        }
        if frames.spread >= frames.interval && !frames.spread.is_zero() {
            let message = "a frame would not have left before the next one comes";
            return Err(self.wrong("spread", message, "a time below `interval`"));
        }
        let counts = [
            ("packets", Some(frames.packets)),
            ("key_every", frames.key_every),
            ("key_packets", frames.key_packets),
        ];
        for (key, count) in counts {
            if count == Some(0) {
                return Err(self.wrong(key, "a frame has a packet, and key frames come", "a number from 1"));
            }
        }
        if frames.key_every.is_some() != frames.key_packets.is_some() {
            let key = if frames.key_every.is_some() { "key_every" } else { "key_packets" };
            return Err(self.wrong(
                key,
                "half of what key frames need",
                "both `key_every` and `key_packets`",
            ));
        }
        self.check_duration(frames.duration)?;
        Ok(frames)
    }

    fn wrong(&self, key: &str, message: impl Into<String>, expected: impl Into<String>) -> ScenarioError {
        self.place.wrong(&format!("application.{key}"), message, expected)
    }

    fn check_size(&self, key: &str, octets: Option<u64>) -> Result<(), ScenarioError> {
        match octets {
            Some(0) => Err(self.wrong(key, "nothing would be transferred", "at least 1 B")),
            _ => Ok(()),
        }
    }

    fn check_rate(&self, key: &str, rate: Rate) -> Result<(), ScenarioError> {
        match rate {
            Rate::ZERO => {
                Err(self.wrong(key, "nothing would be sent at a rate of zero", "a rate above zero"))
            }
            _ => Ok(()),
        }
    }

    fn check_packet(&self, size: Option<Size>) -> Result<(), ScenarioError> {
        let Some(octets) = size.map(|size| size.0.get()) else { return Ok(()) };
        self.check_size("packet_size", Some(octets))?;
        if octets > u64::from(self.largest) {
            let message = format!("a packet of {octets} octets does not fit the MTU of its path");
            return Err(self.wrong("packet_size", message, format!("at most {} B of payload", self.largest)));
        }
        Ok(())
    }

    fn check_duration(&self, time: Option<Duration>) -> Result<(), ScenarioError> {
        match time {
            Some(Duration::ZERO) => {
                Err(self.wrong("duration", "nothing would be sent in no time", "a time above zero"))
            }
            _ => Ok(()),
        }
    }

    fn check_interval(&self, key: &str, interval: Interval, zero: Zero) -> Result<(), ScenarioError> {
        let may_be_zero = zero == Zero::Constant && matches!(interval, Interval::Constant(_));
        if interval.mean().is_zero() && !may_be_zero {
            return Err(self.wrong(key, "a time of zero cannot be here", "a time above zero"));
        }
        Ok(())
    }
}
