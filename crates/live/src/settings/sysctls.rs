//! TCP's and Multipath TCP's constants as sysctls of a network namespace.

use ropewalk_scenario::plan::Protocol;
use ropewalk_tcp::{Config, CongestionControl, LossRecovery};
use ropewalk_units::Duration;

/// A file below `/proc/sys`, what it has to say, and the key that says so.
pub(super) struct Sysctl {
    pub(super) file: &'static str,
    pub(super) value: String,
    /// `tcp` or `mptcp`.
    pub(super) kind: &'static str,
    pub(super) key: &'static str,
}

/// The kernel's least memory of a socket, in octets.
const LEAST_MEMORY: u32 = 4096;
/// What a receive buffer starts with when it grows by itself, and a send buffer, as in Linux.
const FIRST_RECEIVE: u32 = 131_072;
const FIRST_SEND: u32 = 16_384;
/// The value of `tcp_early_retrans` with which Linux sends tail loss probes; 0 turns them off.
const TAIL_LOSS_PROBE: u32 = 3;

/// What one connection asks for.
pub(super) fn of(protocol: &Protocol, tcp: &Config) -> Vec<Sysctl> {
    let mut all = of_tcp(tcp);
    let mut add = |file, kind, key, value: String| all.push(Sysctl { file, value, kind, key });
    let (kind, receive, send) = match protocol {
        Protocol::Mptcp(config) => ("mptcp", config.receive_buffer, config.send_buffer),
        Protocol::Tcp(_) | Protocol::Udp => ("tcp", tcp.receive_buffer, tcp.send_buffer),
    };
    let first = if tcp.receive_autotuning { receive.min(FIRST_RECEIVE) } else { receive };
    add("net/ipv4/tcp_rmem", kind, "receive_buffer", format!("{LEAST_MEMORY} {first} {receive}"));
    add("net/ipv4/tcp_wmem", kind, "send_buffer", format!("{LEAST_MEMORY} {} {send}", send.min(FIRST_SEND)));
    if let Protocol::Mptcp(config) = protocol {
        all.extend(of_mptcp(config));
    }
    all
}

fn of_tcp(tcp: &Config) -> Vec<Sysctl> {
    let is_dctcp = matches!(tcp.congestion_control, CongestionControl::Dctcp);
    // Without SACK the kernel looks at none of it.
    let recovery = u32::from(tcp.loss_recovery != LossRecovery::Sack);
    let probe = if tcp.tail_loss_probe { TAIL_LOSS_PROBE } else { 0 };
    let flag = |on: bool| u32::from(on).to_string();
    let sysctls = [
        ("net/ipv4/tcp_dsack", "report_duplicates", flag(tcp.report_duplicates)),
        ("net/ipv4/tcp_early_retrans", "tail_loss_probe", probe.to_string()),
        ("net/ipv4/tcp_ecn", "ecn", flag(tcp.ecn || is_dctcp)),
        ("net/ipv4/tcp_moderate_rcvbuf", "receive_autotuning", flag(tcp.receive_autotuning)),
        ("net/ipv4/tcp_recovery", "loss_recovery", recovery.to_string()),
        ("net/ipv4/tcp_retries2", "max_retransmissions", tcp.max_retransmissions.to_string()),
        ("net/ipv4/tcp_rto_max_ms", "rto_max", tcp.rto_max.as_millis().to_string()),
        ("net/ipv4/tcp_rto_min_us", "rto_min", tcp.rto_min.as_micros().to_string()),
        ("net/ipv4/tcp_sack", "sack", flag(tcp.sack)),
        ("net/ipv4/tcp_slow_start_after_idle", "idle_restart", flag(tcp.idle_restart)),
        ("net/ipv4/tcp_syn_retries", "max_syn_retransmissions", tcp.max_syn_retransmissions.to_string()),
        ("net/ipv4/tcp_timestamps", "timestamps", flag(tcp.timestamps)),
        ("net/ipv4/tcp_window_scaling", "window_scale", flag(tcp.window_scale.is_some())),
    ];
    let sysctl = |(file, key, value)| Sysctl { file, value, kind: "tcp", key };
    sysctls.into_iter().map(sysctl).collect()
}

fn of_mptcp(mptcp: &ropewalk_mptcp::Config) -> impl Iterator<Item = Sysctl> + use<> {
    let flag = |on: bool| u32::from(on).to_string();
    let seconds = |time: Duration| time.as_millis().div_ceil(1000).to_string();
    let syns = mptcp.syn_retrans_before_tcp_fallback.to_string();
    let joins = flag(mptcp.allow_join_initial_addr_port);
    let sysctls = [
        ("net/mptcp/add_addr_timeout", "add_addr_timeout", seconds(mptcp.add_addr_timeout)),
        ("net/mptcp/allow_join_initial_addr_port", "allow_join_initial_addr_port", joins),
        ("net/mptcp/blackhole_timeout", "blackhole_timeout", seconds(mptcp.blackhole_timeout)),
        ("net/mptcp/checksum_enabled", "checksum", flag(mptcp.checksum)),
        ("net/mptcp/close_timeout", "close_timeout", seconds(mptcp.close_timeout)),
        ("net/mptcp/stale_loss_cnt", "stale_loss_cnt", mptcp.stale_loss_cnt.to_string()),
        ("net/mptcp/syn_retrans_before_tcp_fallback", "syn_retrans_before_tcp_fallback", syns),
    ];
    sysctls.into_iter().map(|(file, key, value)| Sysctl { file, value, kind: "mptcp", key })
}
