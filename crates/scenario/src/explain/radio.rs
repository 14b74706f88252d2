//! The wireless network in characters: what its radios are, how far they reach, where the stations are.

use crate::plan::wifi::{BroadcastPlan, MobilityPlan, WayPlan};
use crate::plan::{Plan, WifiPlan};
use ropewalk_units::Duration;
use ropewalk_units::Rate as Bits;
use ropewalk_wifi::phy::{self, Rate, Standard};
use ropewalk_wifi::position::Position;
use ropewalk_wifi::propagation::{Breakpoint, Fading, Overlap, Propagation};
use ropewalk_wifi::{RateControl, StationConfig};
use std::fmt::Write;

/// Writes the section of the wireless network.
pub(super) fn network(plan: &Plan, wifi: &WifiPlan, text: &mut String) {
    radios(wifi, text);
    ranges(wifi, text);
    let scene = &wifi.scene;
    let stations = &scene.stations;
    let drawn = match scene.draws {
        0 => String::new(),
        draws => format!(", deployment {draws} of those drawn with seed {}", plan.settings.seed),
    };
    let _ = writeln!(text, "  {} stations{drawn}{}\n", stations.len(), movement(wifi));
    Map::new(plan, stations).draw(wifi, text);
    text.push('\n');
    list(wifi, text);
    broadcasts(wifi, text);
}

fn radios(wifi: &WifiPlan, text: &mut String) {
    let mac = &wifi.mac;
    let preamble = match mac.standard {
        Standard::Dsss { short_preamble: true } => ", short preamble",
        Standard::Dsss { short_preamble: false } => ", long preamble",
        Standard::OfdmA | Standard::OfdmG => "",
    };
    let rate = match mac.rate {
        RateControl::Fixed(rate) => rate.to_string(),
        RateControl::Minstrel { .. } => "a rate that Minstrel chooses".to_owned(),
    };
    let name = mac.standard.name();
    let _ = writeln!(text, "  {name}{preamble}: data at {rate}, ACKs at {}", wifi.ack_rate());
    let queue = mac.queue.map_or_else(|| "any number of".to_owned(), |limit| limit.to_string());
    let rts = mac.rts_threshold.map_or_else(|| "no RTS".to_owned(), |octets| format!("RTS above {octets} B"));
    let _ = writeln!(
        text,
        "  at most {} transmissions, {rts}, contention window {} to {}, queues of {queue} frames",
        mac.short_retry_limit,
        mac.cw_min.unwrap_or_default(),
        mac.cw_max.unwrap_or_default(),
    );
}

fn ranges(wifi: &WifiPlan, text: &mut String) {
    let rate = wifi.greatest_data_rate();
    let (reception, sense) = (wifi.propagation.reception_range(rate), wifi.propagation.carrier_sense_range());
    match &wifi.propagation {
        Propagation::Disk(disk) => {
            let overlap = match disk.overlap {
                Overlap::DestroysAll => "frames that overlap are all lost",
                Overlap::FirstWins => "of frames that overlap the first is received",
            };
            let _ = writeln!(
                text,
                "  received up to {reception:.1} m, sensed up to {sense:.1} m, interfering up to {:.1} m; {overlap}",
                disk.interference
            );
        }
        Propagation::LogDistance(model) => {
            let _ = writeln!(
                text,
                "  path loss with exponent {}{}: received at {rate} up to {reception:.1} m, sensed up to {sense:.1} m{}{}",
                model.exponent,
                beyond(model.breakpoint),
                if model.shadowing_db > 0.0 { ", give or take the shadowing" } else { "" },
                if model.fading == Fading::None { "" } else { ", each frame faded by itself" }
            );
        }
    }
}

fn beyond(breakpoint: Option<Breakpoint>) -> String {
    breakpoint.map_or_else(String::new, |Breakpoint { distance, exponent }| {
        format!(", and {exponent} beyond {distance:.0} m")
    })
}

fn movement(wifi: &WifiPlan) -> &'static str {
    match (&wifi.keys.mobility, wifi.is_mobile()) {
        (_, false) => "",
        (MobilityPlan::RandomWaypoint(_), _) => ", moving by random waypoint from here",
        (MobilityPlan::GaussMarkov(_), _) => ", moving by Gauss-Markov from here",
        (MobilityPlan::None, true) => ", some of them moving from here",
    }
}

/// More are not listed one by one.
const MOST_LISTED: usize = 16;

fn list(wifi: &WifiPlan, text: &mut String) {
    let scene = &wifi.scene;
    let on_routes = |index: usize| {
        scene.routes.iter().any(|route| route.stations.iter().any(|station| station.0 as usize == index))
    };
    let is_short = scene.stations.len() <= MOST_LISTED;
    for (index, station) in scene.stations.iter().enumerate() {
        if is_short || on_routes(index) {
            let Position { x, y } = station.position;
            let channels: Vec<String> =
                station.radios.iter().map(|radio| radio.channel.to_string()).collect();
            let plural = if channels.len() == 1 { "channel" } else { "channels" };
            let _ =
                writeln!(text, "  {} at ({x:.1}, {y:.1}) m, {plural} {}", station.name, channels.join(", "));
        }
    }
}

fn broadcasts(wifi: &WifiPlan, text: &mut String) {
    for plan in &wifi.broadcasts {
        let from = plan.from.as_ref().map_or_else(|| "all stations".to_owned(), |from| from.join(", "));
        let interval = plan.interval.describe();
        let BroadcastPlan { name, channel, packet_size: packet, .. } = plan;
        let _ = writeln!(
            text,
            "  broadcast {name}: {packet} B each {interval} at {} on channel {channel} from {from}",
            wifi.broadcast_rate()
        );
    }
}

/// The way of a wireless route, for the topology.
pub(super) fn way(wifi: &WifiPlan, index: usize) -> String {
    let (plan, route) = (&wifi.routes[index], &wifi.scene.routes[index]);
    let names: Vec<&str> =
        route.stations.iter().map(|station| wifi.scene.stations[station.0 as usize].name.as_str()).collect();
    let channels: Vec<String> = route.channels.iter().map(u8::to_string).collect();
    let hops = match names.len() - 1 {
        1 => "1 hop".to_owned(),
        hops => format!("{hops} hops"),
    };
    let found = match &plan.way {
        WayPlan::Via(_) => String::new(),
        WayPlan::Find(find) => format!(", found ({} {})", find.describe(), find.number + 1),
    };
    format!("{hops} on channel {}: {}{found}", channels.join(", "), names.join(" ~ "))
}

/// Stations on a raster of characters, which are twice as high as wide.
struct Map {
    rows: Vec<Vec<char>>,
    /// Metres per column.
    scale: f64,
    corner: Position,
}

const COLUMNS: f64 = 72.0;
const MOST_ROWS: f64 = 24.0;

impl Map {
    fn new(plan: &Plan, stations: &[StationConfig]) -> Self {
        let fold = |pick: fn(&Position) -> f64, fold: fn(f64, f64) -> f64, start: f64| {
            stations.iter().map(|station| pick(&station.position)).fold(start, fold)
        };
        let low =
            Position::new(fold(|at| at.x, f64::min, f64::INFINITY), fold(|at| at.y, f64::min, f64::INFINITY));
        let high = Position::new(
            fold(|at| at.x, f64::max, f64::NEG_INFINITY),
            fold(|at| at.y, f64::max, f64::NEG_INFINITY),
        );
        let (width, height) = (high.x - low.x, high.y - low.y);
        // A row is as high as two columns are wide; one point alone has any scale.
        let scale = (width / COLUMNS).max(height / 2.0 / (MOST_ROWS - 1.0)).max(1e-3);
        let count = (height / scale / 2.0) as usize + 1;
        let mut map = Self { rows: vec![Vec::new(); count], scale, corner: Position::new(low.x, high.y) };
        // Nodes of the scenario first: their names are always there.
        let is_node = |station: &&StationConfig| plan.nodes.iter().any(|node| node.name == station.name);
        for station in stations.iter().filter(is_node) {
            map.put(station, '@');
        }
        for station in stations.iter().filter(|station| !is_node(station)) {
            map.put(station, '*');
        }
        map
    }

    fn put(&mut self, station: &StationConfig, mark: char) {
        let Position { x, y } = station.position;
        let row = (((self.corner.y - y) / self.scale / 2.0) as usize).min(self.rows.len() - 1);
        let column = ((x - self.corner.x) / self.scale) as usize;
        let row = &mut self.rows[row];
        // Stations at one place share a mark: *r1,r2.
        let is_taken = row.get(column).is_some_and(|&c| c != ' ');
        let past = |row: &[char]| row[column..].iter().take_while(|&&c| c != ' ').count();
        let (column, mark) = if is_taken { (column + past(row), ',') } else { (column, mark) };
        let label: Vec<char> = std::iter::once(mark).chain(station.name.chars()).collect();
        if row.len() < column + label.len() + 1 {
            row.resize(column + label.len() + 1, ' ');
        }
        // A name gives way to what stands there; a mark only to nothing.
        let is_free = row[column + 1..=column + label.len()].iter().all(|&c| c == ' ');
        let shown = match (is_free, is_taken) {
            (true, _) => label.len(),
            (false, taken) => usize::from(!taken),
        };
        row[column..column + shown].copy_from_slice(&label[..shown]);
    }

    fn draw(&self, wifi: &WifiPlan, text: &mut String) {
        for row in &self.rows {
            let line: String = row.iter().collect();
            let _ = writeln!(text, "    {}", line.trim_end());
        }
        let range = wifi.propagation.reception_range(wifi.greatest_data_rate());
        let dashes = (range / self.scale).min(COLUMNS) as usize;
        let cut = if range / self.scale > COLUMNS { "..." } else { "|" };
        let _ = writeln!(
            text,
            "    |{}{cut} {range:.1} m: received up to here",
            "-".repeat(dashes.saturating_sub(1))
        );
    }
}

impl WifiPlan {
    /// The rate of data frames at best.
    pub(crate) fn greatest_data_rate(&self) -> Rate {
        match self.mac.rate {
            RateControl::Fixed(rate) => rate,
            RateControl::Minstrel { rates } => rates.iter().last().unwrap_or(self.mac.standard.lowest_rate()),
        }
    }

    fn ack_rate(&self) -> Rate {
        let by_rule = || phy::control_rate(self.mac.basic_rates, self.greatest_data_rate());
        self.mac.control_rate.unwrap_or_else(by_rule)
    }

    fn broadcast_rate(&self) -> Rate {
        let lowest = || self.mac.basic_rates.iter().next().unwrap_or(self.mac.standard.lowest_rate());
        self.mac.broadcast_rate.unwrap_or_else(lowest)
    }

    /// From the medium's becoming idle to the end of a packet's ACK, with `slots` slots of backoff.
    fn exchange(&self, packet: u32, slots: u32) -> Duration {
        let (standard, timing) = (self.mac.standard, self.mac.standard.timing());
        let data = phy::ppdu_duration(standard, self.greatest_data_rate(), packet + phy::DATA_OVERHEAD);
        let ack = phy::ppdu_duration(standard, self.ack_rate(), phy::ACK);
        timing.difs + timing.slot * u64::from(slots) + data + timing.sifs + ack
    }

    /// What one hop of a route carries when nobody else sends: full packets, mean backoff.
    pub(super) fn hop_rate(&self, mtu: u32) -> Bits {
        let nanos = self.exchange(mtu, self.mac.cw_min.unwrap_or_default() / 2).as_nanos();
        Bits::from_bits_per_sec(u64::from(mtu) * 8 * 1_000_000_000 / nanos)
    }

    /// The least time of a packet's way: an empty segment over each hop, without backoff.
    pub(crate) fn least_delay(&self, route: usize) -> Duration {
        let hops = self.scene.routes[route].stations.len() as u64 - 1;
        self.exchange(40, 0) * hops
    }
}
