//! What this machine can do.

use crate::wakeful;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// Bits of the capabilities that are needed (`uapi/linux/capability.h`).
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;

/// The bonding daemon's program, and the variable that names another file.
const GATEWAY: &str = "ropewalk-gateway";
const GATEWAY_VARIABLE: &str = "ROPEWALK_GATEWAY";

/// What a run needs of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// May this process make interfaces and namespaces: CAP_NET_ADMIN and CAP_SYS_ADMIN?
    pub capable: bool,
    /// Why there are no TUN interfaces, if there are none.
    pub tun: Option<String>,
    /// Are there network namespaces?
    pub namespaces: bool,
    /// Has the kernel IPv6?
    pub ipv6: bool,
    /// Has the kernel Multipath TCP?
    pub mptcp: bool,
    /// Congestion controls that the kernel has.
    pub controls: Vec<String>,
    /// Why processors without work sleep while a run lasts, if they do: its packets may be late then.
    pub sleepy: Option<String>,
    /// The file of the bonding daemon, `ropewalk-gateway`, if there is one.
    pub gateway: Option<PathBuf>,
}

impl Machine {
    /// Looks at this one.
    pub fn look() -> Self {
        let device = Path::new("/dev/net/tun");
        let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        Self {
            capable: is_capable(),
            tun: OpenOptions::new().read(true).write(true).open(device).err().map(|error| error.to_string()),
            namespaces: Path::new("/proc/thread-self/ns/net").exists(),
            ipv6: Path::new("/proc/net/if_inet6").exists(),
            mptcp: Path::new("/proc/sys/net/mptcp/enabled").exists(),
            controls: controls.unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
            sleepy: wakeful::obstacle(),
            gateway: find_gateway(),
        }
    }
}

/// What [`GATEWAY_VARIABLE`] names; else beside this program, or in the folder above, as tests lie
/// below other programs; else by the search path.
fn find_gateway() -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file();
    if let Some(named) = std::env::var_os(GATEWAY_VARIABLE) {
        return Some(PathBuf::from(named)).filter(is_there);
    }
    let own = std::env::current_exe().unwrap_or_default();
    let near = own.ancestors().skip(1).take(2).map(Path::to_path_buf).collect::<Vec<_>>();
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let folders = near.into_iter().chain(std::env::split_paths(&searched));
    folders.map(|folder| folder.join(GATEWAY)).find(is_there)
}

fn is_capable() -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    [CAP_NET_ADMIN, CAP_SYS_ADMIN].iter().all(|bit| bits >> bit & 1 == 1)
}
