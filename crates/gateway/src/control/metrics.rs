//! The status as Prometheus reads it.

use crate::bond::{PathStatus, TunnelStatus};
use crate::driver::Report;
use std::fmt::Write;

/// A metric of each path, or of each bond.
struct Metric<T: 'static> {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&T) -> f64,
}

impl<T> Metric<T> {
    const fn counter(name: &'static str, help: &'static str, value: fn(&T) -> f64) -> Self {
        Self { name, kind: "counter", help, value }
    }

    const fn gauge(name: &'static str, help: &'static str, value: fn(&T) -> f64) -> Self {
        Self { name, kind: "gauge", help, value }
    }
}

const PATHS: [Metric<PathStatus>; 15] = [
    Metric::gauge("path_up", "1 if the path is up", |path| f64::from(path.state == "up")),
    Metric::counter("path_sent_bytes_total", "Octets of data sent, with all headers", |path| {
        path.sent_bytes as f64
    }),
    Metric::counter("path_sent_packets_total", "Datagrams of data sent", |path| path.sent_packets as f64),
    Metric::counter("path_received_bytes_total", "Octets of data received, with all headers", |path| {
        path.received_bytes as f64
    }),
    Metric::counter("path_received_packets_total", "Datagrams of data received", |path| {
        path.received_packets as f64
    }),
    Metric::counter("path_lost_sent_total", "Datagrams sent and lost, as the other end reports", |path| {
        path.lost_sent as f64
    }),
    Metric::counter("path_lost_received_total", "Datagrams of the other end that were lost", |path| {
        path.lost_received as f64
    }),
    Metric::counter("path_repaired_total", "Lost datagrams that were sent again", |path| {
        path.repaired as f64
    }),
    Metric::gauge("path_rtt_seconds", "Smoothed round-trip time", |path| {
        path.rtt_ms.map_or(f64::NAN, |ms| ms / 1e3)
    }),
    Metric::gauge("path_queueing_seconds", "What a packet waits in queues on the way", |path| {
        path.queueing_ms / 1e3
    }),
    Metric::gauge("path_rate_bits_per_second", "What the path carries", |path| path.rate_mbps * 1e6),
    Metric::gauge("path_in_flight_bound_bytes", "What may be on its way on the path", |path| {
        path.in_flight_bound.map_or(f64::INFINITY, f64::from)
    }),
    Metric::gauge("path_quota_bytes", "What may go over the path in a period, both directions", |path| {
        path.quota.map_or(f64::INFINITY, |octets| octets as f64)
    }),
    Metric::gauge("path_quota_spent_bytes", "What of it counts in the period that runs", |path| {
        path.quota_spent as f64
    }),
    Metric::gauge("path_mtu_bytes", "The longest IP packet that the path carries", |path| {
        f64::from(path.mtu)
    }),
];

const BONDS: [Metric<TunnelStatus>; 9] = [
    Metric::counter("delivered_packets_total", "Packets that came out of the bond", |bond| {
        bond.delivered as f64
    }),
    Metric::counter("waiting_dropped_total", "Packets dropped while they waited for a path", |bond| {
        bond.dropped_waiting as f64
    }),
    Metric::counter(
        "acks_superseded_total",
        "Acknowledgements of TCP that did not leave, since later ones told all that they told",
        |bond| bond.superseded as f64,
    ),
    Metric::gauge("held_back_packets", "Packets held back for order", |bond| f64::from(bond.held_back)),
    Metric::gauge("held_back_mean_seconds", "Mean time that a packet was held back", |bond| {
        bond.held_back_ms / 1e3
    }),
    Metric::gauge("held_back_most_seconds", "The longest time that a packet was held back", |bond| {
        bond.held_back_most_ms / 1e3
    }),
    Metric::gauge("silent_seconds", "Since the last authentic datagram", |bond| bond.silent_s),
    Metric::counter("late_total", "Packets that came after they had been given up", |bond| bond.late as f64),
    Metric::counter("given_up_total", "Missing packets no longer waited for", |bond| bond.given_up as f64),
];

/// A label's value (the text format's escapes).
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A value as the format has it.
fn number(value: f64) -> String {
    if value == f64::INFINITY { "+Inf".to_owned() } else { value.to_string() }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP ropewalk_{name} {help}\n# TYPE ropewalk_{name} {kind}");
}

/// In the text format of Prometheus, version 0.0.4.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::new();
    head(&mut out, "uptime_seconds", "gauge", "Seconds since the process began");
    let _ = writeln!(out, "ropewalk_uptime_seconds {}", report.uptime_s);
    head(&mut out, "session", "gauge", "1 if there is a session with the other end");
    for peer in &report.peers {
        let has = u8::from(peer.bond.is_some());
        let _ = writeln!(out, "ropewalk_session{{peer=\"{}\"}} {has}", quoted(&peer.name));
    }
    for metric in &PATHS {
        head(&mut out, metric.name, metric.kind, metric.help);
        for peer in &report.peers {
            for path in peer.bond.iter().flat_map(|bond| &bond.paths) {
                let (peer, name) = (quoted(&peer.name), quoted(&path.name));
                let value = number((metric.value)(path));
                let _ = writeln!(out, "ropewalk_{}{{peer=\"{peer}\",path=\"{name}\"}} {value}", metric.name);
            }
        }
    }
    bonds(&mut out, report);
    head(&mut out, "dropped_total", "counter", "Packets and datagrams that were not taken, by reason");
    for (reason, count) in &report.drops {
        let _ = writeln!(out, "ropewalk_dropped_total{{reason=\"{reason}\"}} {count}");
    }
    head(&mut out, "peer_dropped_total", "counter", "The same of the sessions with one other end");
    for peer in &report.peers {
        for (reason, count) in &peer.drops {
            let name = quoted(&peer.name);
            let _ =
                writeln!(out, "ropewalk_peer_dropped_total{{peer=\"{name}\",reason=\"{reason}\"}} {count}");
        }
    }
    out
}

fn bonds(out: &mut String, report: &Report) {
    for Metric { name, kind, help, value } in BONDS {
        head(out, name, kind, help);
        for peer in &report.peers {
            if let Some(bond) = &peer.bond {
                let _ = writeln!(out, "ropewalk_{name}{{peer=\"{}\"}} {}", quoted(&peer.name), value(bond));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Peer;

    /// Each line is a comment, or a name with its labels and one number.
    #[test]
    fn each_line_is_as_the_format_has_it() {
        let peer = Peer { name: "a \"b\"\\".into(), bond: None, drops: vec![("source", 3)] };
        let report = Report {
            role: "hub",
            tun: "bond0".into(),
            mtu: 1400,
            uptime_s: 1.5,
            peers: vec![peer],
            drops: vec![("forged", 2), ("source", 3)],
            events: Vec::new(),
        };
        let text = render(&report);
        for line in [
            "ropewalk_uptime_seconds 1.5",
            r#"ropewalk_session{peer="a \"b\"\\"} 0"#,
            r#"ropewalk_dropped_total{reason="forged"} 2"#,
            r#"ropewalk_peer_dropped_total{peer="a \"b\"\\",reason="source"} 3"#,
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let value = line.rsplit_once(' ').map(|(_, value)| value.parse::<f64>());
            assert!(matches!(value, Some(Ok(_))), "{line}");
        }
    }
}
