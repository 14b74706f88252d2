//! A site's record as a scenario of the simulator: its packets, at their times, over lines like those that it shows.

use super::lines::{Line, Lines};
use super::traffic::{Flow, Side, Traffic};
use crate::bond::{Core, Inside};
use ropewalk_bonding::{Class, Config, PathConfig, SchedulerConfig};
use ropewalk_units::Instant;
use std::fmt::Write;

/// Losses below this are not told of a line, in per cent.
const LEAST_LOSS: f64 = 0.001;
/// Octets of payload of the longest datagram that goes through a simulated bond of lines with 1500 octets.
const LONGEST: usize = 1500 - 48 - 28;

/// A scenario and the files that it names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordedScenario {
    /// Names of files, and what is in them. The first is the scenario.
    pub files: Vec<(String, String)>,
}

/// What is noted while a record is played.
#[derive(Debug)]
pub(super) struct Seen {
    bond: Config,
    classes: [Class; 64],
    traffic: Traffic,
    lines: Lines,
}

impl Seen {
    pub(super) fn new(bond: &Config, inside: &Inside, began_at: Instant) -> Self {
        Self {
            bond: bond.clone(),
            classes: inside.classes,
            traffic: Traffic::new(began_at),
            lines: Lines::default(),
        }
    }

    /// A packet came from the inside.
    pub(super) fn offered(&mut self, now: Instant, octets: &[u8]) {
        self.traffic.note(now, Side::Here, octets);
    }

    /// A packet went to the inside.
    pub(super) fn delivered(&mut self, now: Instant, octets: &[u8]) {
        self.traffic.note(now, Side::There, octets);
    }

    /// Looks at the lines, if it is time.
    pub(super) fn look(&mut self, now: Instant, core: &Core) {
        if self.lines.is_due(now)
            && let Some((_, Some(status))) = core.status(now).into_iter().next()
        {
            self.lines.note(now, status);
        }
    }

    /// Was there a bond to look at?
    pub(super) fn has_lines(&self) -> bool {
        !self.lines.lines.is_empty()
    }

    /// The scenario of what was seen in so many seconds.
    pub(super) fn scenario(self, seconds: f64) -> RecordedScenario {
        let flows = self.traffic.into_flows();
        let mut text = head(seconds, &flows);
        let names = link_names(&self.lines.lines);
        self.lines.lines.iter().zip(&names).for_each(|(line, name)| link(&mut text, name, line));
        bond(&mut text, &self.bond, &self.lines.lines, &names);
        let dscps = flows.iter().map(|flow| flow.dscp).collect();
        classes(&mut text, &self.classes, dscps);
        let mut files = vec![(String::new(), String::new())];
        for (number, flow) in (1..).zip(&flows) {
            let name = format!("flow-{number:03}.csv");
            connection(&mut text, number, &name, flow);
            files.push((name, flow.lines(LONGEST)));
        }
        files[0] = ("scenario.toml".to_owned(), text);
        RecordedScenario { files }
    }
}

fn head(seconds: f64, flows: &[Flow]) -> String {
    let packets = flows.iter().map(Flow::packets).sum::<usize>();
    format!(
        "# What went through a gateway's tunnel in {seconds:.1} s. Flows: {}, packets: {packets}.
#
# A packet leaves when it came to the gateway; one from the other side leaves there when it came out here. Nothing answers to
# what becomes of it: TCP's packets do not wait for their ACKs. A line's rate away from here is the median of what its path's
# controller took for it, the other way the most that came in a tenth of a second and no less than that; its delay is half of
# the shortest round trip. Rates and delays do not change, and losses come one by one.

[scenario]
name = \"recorded\"
duration = \"{:.0} s\"
seed = 1
sample_interval = \"100 ms\"
events = [\"bond\"]

[hosts.inside]
[hosts.beyond]
[routers.site]
[routers.hub]

[links.site-lan]
between = [\"inside\", \"site\"]
rate = \"10 Gbit/s\"
delay = \"1 us\"
queue = \"10000 packets\"

[links.hub-lan]
between = [\"hub\", \"beyond\"]
rate = \"10 Gbit/s\"
delay = \"1 us\"
queue = \"10000 packets\"
",
        flows.len(),
        (seconds + 2.0).ceil(),
    )
}

/// Names for the lines as a scenario takes them: the paths' own where they are of letters, digits, `-` and `_`.
fn link_names(lines: &[Line]) -> Vec<String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_free = |name: &str| name != "site-lan" && name != "hub-lan";
    let name = |(number, line): (usize, &Line)| {
        if line.name.chars().all(is_good) && is_free(&line.name) {
            line.name.clone()
        } else {
            format!("line-{number}")
        }
    };
    (1..).zip(lines).map(name).collect()
}

fn link(text: &mut String, name: &str, line: &Line) {
    let (rates, losses) = ([line.rate_out(), line.rate_in()], line.losses());
    let _ = write!(
        text,
        "\n[links.{name}]\nbetween = [\"site\", \"hub\"]\ndelay = \"{:.3} ms\"\n",
        line.delay_ms()
    );
    for ((direction, rate), loss) in ["forward", "backward"].into_iter().zip(rates).zip(losses) {
        let loss = if loss < LEAST_LOSS { String::new() } else { format!(", loss = \"{loss:.3} %\"") };
        let _ = writeln!(text, "{direction} = {{ rate = \"{rate:.3} Mbit/s\"{loss} }}");
    }
}

fn bond(text: &mut String, bond: &Config, lines: &[Line], names: &[String]) {
    let member = |(line, name): (&Line, &String)| {
        let path = bond.paths.iter().find(|path| path.name == line.name);
        let keys = path.map(keys).unwrap_or_default();
        format!("{{ link = \"{name}\"{keys} }}")
    };
    let members = lines.iter().zip(names).map(member).collect::<Vec<_>>().join(", ");
    let scheduler = match bond.scheduler {
        SchedulerConfig::WeightedRoundRobin(_) => "weighted-round-robin",
        SchedulerConfig::CostFirst(_) => "cost-first",
        SchedulerConfig::RateAware => "rate-aware",
        SchedulerConfig::Redundant => "redundant",
        SchedulerConfig::FlowAware(_) => "flow-aware",
    };
    let _ = write!(
        text,
        "\n# Keys beside these are the defaults, whatever the gateway's were.\n[bonds.tunnel]\nbetween = [\"site\", \
         \"hub\"]\npaths = [{members}]\nscheduler = \"{scheduler}\"\n"
    );
}

fn keys(path: &PathConfig) -> String {
    let keys = [("cost", path.cost), ("weight", path.weight), ("max_weight", path.max_weight)];
    keys.into_iter().filter_map(|(key, value)| Some(format!(", {key} = {}", value?))).collect()
}

/// The classes of the code points that flows have.
fn classes(text: &mut String, classes: &[Class; 64], mut dscps: Vec<u8>) {
    dscps.sort_unstable();
    dscps.dedup();
    let class = |dscp: u8| {
        let treatment = match classes[usize::from(dscp & 63)] {
            Class::Normal => return None,
            Class::LowDelay => "low-delay",
            Class::Unordered => "unordered",
            Class::Duplicated => "duplicated",
            Class::DuplicatedUnordered => "duplicated-unordered",
        };
        Some(format!("{{ dscp = {dscp}, treatment = \"{treatment}\" }}"))
    };
    let classes = dscps.into_iter().filter_map(class).collect::<Vec<_>>();
    if !classes.is_empty() {
        let _ = writeln!(text, "classes = [{}]", classes.join(", "));
    }
}

fn connection(text: &mut String, number: usize, file: &str, flow: &Flow) {
    let (from, to) = match flow.side {
        Side::Here => ("inside", "beyond"),
        Side::There => ("beyond", "inside"),
    };
    let dscp = if flow.dscp == 0 { String::new() } else { format!("dscp = {}\n", flow.dscp) };
    let _ = write!(
        text,
        "\n# {}: {} packets, {} octets.\n[connections.flow-{number:03}]\nprotocol = \"udp\"\nfrom = \"{from}\"\nto = \
         \"{to}\"\n{dscp}application = {{ kind = \"recorded\", file = \"{file}\" }}\n",
        flow.was,
        flow.packets(),
        flow.octets(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bond::{PathStatus, TunnelStatus};
    use crate::packet::FlowHasher;
    use ropewalk_units::Duration;
    use std::path::Path;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn path(name: &str, rate_mbps: f64, rtt_ms: f64, sent: u64, received: u64) -> PathStatus {
        PathStatus {
            name: name.to_owned(),
            state: "up",
            remote: None,
            sent_packets: sent,
            sent_bytes: sent * 1500,
            received_packets: received,
            received_bytes: received * 1500,
            lost_received: received / 100,
            lost_sent: 0,
            repaired: 0,
            weight: 0,
            rtt_ms: Some(rtt_ms),
            queueing_ms: 0.0,
            rate_mbps,
            in_flight_bound: None,
            mtu: 1500,
            quota: None,
            quota_spent: 0,
        }
    }

    fn status(paths: Vec<PathStatus>) -> TunnelStatus {
        TunnelStatus {
            paths,
            offered: 0,
            offered_bytes: 0,
            delivered: 0,
            delivered_bytes: 0,
            dropped_waiting: 0,
            superseded: 0,
            held_back: 0,
            held_back_most: 0,
            held_back_ms: 0.0,
            held_back_most_ms: 0.0,
            duplicates: 0,
            late: 0,
            given_up: 0,
            age_s: 0.0,
            silent_s: 0.0,
            inner_mtu: 1435,
            overhead: 65,
        }
    }

    fn udp(port: u8, dscp: u8, octets: u16) -> Vec<u8> {
        let mut packet = vec![0; usize::from(octets)];
        packet[..2].copy_from_slice(&[0x45, dscp << 2]);
        packet[2..4].copy_from_slice(&octets.to_be_bytes());
        packet[9] = 17;
        packet[12..20].copy_from_slice(&[10, 9, 0, 2, 10, 9, 0, 1]);
        packet[20..24].copy_from_slice(&[0, 7, 0, port]);
        packet
    }

    /// A call, a transfer in both directions, and two lines of which one has a name that no scenario takes.
    fn sketch() -> RecordedScenario {
        let paths = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("LTE (roof)", Some(2))];
        let bond =
            Config::new(paths, SchedulerConfig::CostFirst(ropewalk_bonding::CostFirstConfig::default()));
        let mut classes = [Class::Normal; 64];
        classes[46] = Class::LowDelay;
        let inside = Inside { classes, hasher: FlowHasher::new([1, 2]), mtu: 1435 };
        let mut seen = Seen::new(&bond, &inside, at(1000));
        for tenth in 0..=10 {
            let rate = if tenth == 0 { 30.0 } else { 20.0 };
            let (sent, received) = (tenth * 100, tenth * 200);
            let dsl = path("dsl", rate, 30.0 - tenth as f64, sent, received);
            let lte = path("LTE (roof)", 10.0, 50.0, sent / 10, 0);
            seen.lines.note(at(1000 + 100 * tenth), status(vec![dsl, lte]));
        }
        for number in 0..50 {
            seen.offered(at(1000 + 20 * number), &udp(1, 46, 200));
        }
        for number in 0..200 {
            seen.offered(at(1000 + 5 * number), &udp(2, 0, 1430));
            seen.delivered(at(1003 + 5 * number), &udp(3, 0, 1430));
        }
        seen.scenario(1.0)
    }

    /// `tests/recorded` of the repository: `tests/recorded.rs` runs it in the simulator. `ROPEWALK_BLESS=1` writes it again.
    #[test]
    fn a_record_becomes_the_scenario_that_the_simulator_runs() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recorded");
        for (name, text) in sketch().files {
            let path = folder.join(&name);
            if std::env::var("ROPEWALK_BLESS").is_ok() {
                std::fs::create_dir_all(&folder).expect("a folder that can be made");
                std::fs::write(&path, &text).expect("a file that can be written");
            }
            assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text, "{name}");
        }
    }
}
