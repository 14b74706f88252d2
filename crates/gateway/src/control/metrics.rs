//! The status as Prometheus reads it.

use crate::bond::PathStatus;
use crate::driver::Report;
use std::fmt::Write;

/// A metric of each path.
struct PathMetric {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    value: fn(&PathStatus) -> f64,
}

const PATHS: [PathMetric; 15] = [
    PathMetric {
        name: "path_up",
        kind: "gauge",
        help: "1 if the path is up",
        value: |path| f64::from(path.state == "up"),
    },
    PathMetric {
        name: "path_sent_bytes_total",
        kind: "counter",
        help: "Octets of data sent, with all headers",
        value: |path| path.sent_bytes as f64,
    },
    PathMetric {
        name: "path_sent_packets_total",
        kind: "counter",
        help: "Datagrams of data sent",
        value: |path| path.sent_packets as f64,
    },
    PathMetric {
        name: "path_received_bytes_total",
        kind: "counter",
        help: "Octets of data received, with all headers",
        value: |path| path.received_bytes as f64,
    },
    PathMetric {
        name: "path_received_packets_total",
        kind: "counter",
        help: "Datagrams of data received",
        value: |path| path.received_packets as f64,
    },
    PathMetric {
        name: "path_lost_sent_total",
        kind: "counter",
        help: "Datagrams sent and lost, as the other end reports",
        value: |path| path.lost_sent as f64,
    },
    PathMetric {
        name: "path_lost_received_total",
        kind: "counter",
        help: "Datagrams of the other end that were lost",
        value: |path| path.lost_received as f64,
    },
    PathMetric {
        name: "path_repaired_total",
        kind: "counter",
        help: "Lost datagrams that were sent again",
        value: |path| path.repaired as f64,
    },
    PathMetric {
        name: "path_rtt_seconds",
        kind: "gauge",
        help: "Smoothed round-trip time",
        value: |path| path.rtt_ms.map_or(f64::NAN, |ms| ms / 1e3),
    },
    PathMetric {
        name: "path_queueing_seconds",
        kind: "gauge",
        help: "What a packet waits in queues on the way",
        value: |path| path.queueing_ms / 1e3,
    },
    PathMetric {
        name: "path_rate_bits_per_second",
        kind: "gauge",
        help: "What the path carries",
        value: |path| path.rate_mbps * 1e6,
    },
    PathMetric {
        name: "path_in_flight_bound_bytes",
        kind: "gauge",
        help: "What may be on its way on the path",
        value: |path| path.in_flight_bound.map_or(f64::INFINITY, f64::from),
    },
    PathMetric {
        name: "path_quota_bytes",
        kind: "gauge",
        help: "What may go over the path in a period, both directions",
        value: |path| path.quota.map_or(f64::INFINITY, |octets| octets as f64),
    },
    PathMetric {
        name: "path_quota_spent_bytes",
        kind: "gauge",
        help: "What of it counts in the period that runs",
        value: |path| path.quota_spent as f64,
    },
    PathMetric {
        name: "path_mtu_bytes",
        kind: "gauge",
        help: "The longest IP packet that the path carries",
        value: |path| f64::from(path.mtu),
    },
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
    out
}

fn bonds(out: &mut String, report: &Report) {
    type Value = fn(&crate::bond::TunnelStatus) -> f64;
    let metrics: [(&str, &str, &str, Value); 6] = [
        ("delivered_packets_total", "counter", "Packets that came out of the bond", |bond| {
            bond.delivered as f64
        }),
        ("waiting_dropped_total", "counter", "Packets dropped while they waited for a path", |bond| {
            bond.dropped_waiting as f64
        }),
        ("held_back_packets", "gauge", "Packets held back for order", |bond| f64::from(bond.held_back)),
        ("held_back_mean_seconds", "gauge", "Mean time that a packet was held back", |bond| {
            bond.held_back_ms / 1e3
        }),
        ("late_total", "counter", "Packets that came after they had been given up", |bond| bond.late as f64),
        ("given_up_total", "counter", "Missing packets no longer waited for", |bond| bond.given_up as f64),
    ];
    for (name, kind, help, value) in metrics {
        head(out, name, kind, help);
        for peer in &report.peers {
            if let Some(bond) = &peer.bond {
                let _ = writeln!(out, "ropewalk_{name}{{peer=\"{}\"}} {}", quoted(&peer.name), value(bond));
            }
        }
    }
}
