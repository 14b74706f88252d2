//! The choices of one Multipath TCP connection.

use crate::role::Role;
use ropewalk_tcp::HyStart;
use ropewalk_units::{Duration, Instant};
use std::net::{IpAddr, SocketAddr};

macro_rules! scheduler_choice {
    ($($(#[$doc:meta])* $name:ident $({ $field:ident: $type:ty })? $(($constants:ty))? = $rule:ty;)*) => {
        /// Which subflow gets the next data.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Scheduler {
            $(
                $(#[$doc])*
                $name $({
                    /// By path, in the order in which the scenario lists them.
                    $field: $type,
                })? $(($constants))?,
            )*
        }
    };
}

schedulers!(scheduler_choice);

/// Goodput guard's constants.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GuardConfig {
    /// How long an excluded path rests before it is probed.
    pub probe_interval: Duration,
    /// Segments of one probe.
    pub probe_segments: u32,
}

impl Default for GuardConfig {
    fn default() -> Self {
        Self { probe_interval: Duration::from_secs(1), probe_segments: 4 }
    }
}

macro_rules! coupling_choice {
    ($($(#[$doc:meta])* $name:ident = $rule:ty;)*) => {
        /// How the windows of the subflows depend on each other.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Coupling {
            $($(#[$doc])* $name,)*
        }
    };
}

couplings!(coupling_choice);

macro_rules! path_manager_choice {
    (
        $(
            $(#[$doc:meta])*
            $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* })? = $rule:ty;
        )*
    ) => {
        /// Which subflows are opened.
        #[derive(Clone, PartialEq, Debug)]
        pub enum PathManager {
            $($(#[$doc])* $name $({ $($(#[$field_doc])* $field: $type,)* })?,)*
        }
    };
}

path_managers!(path_manager_choice);

/// What `ip mptcp` has set on one host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KernelHost {
    /// `ip mptcp limits`.
    pub limits: KernelLimits,
    /// `ip mptcp endpoint`, in the order in which they were added.
    pub endpoints: Vec<KernelEndpoint>,
    /// Where the host's routes lead: for an address of the peer, the own one that packets to it leave from.
    pub routed: Vec<(IpAddr, IpAddr)>,
    /// What `ip mptcp` does later, in order of time.
    pub changes: Vec<KernelChange>,
}

impl KernelHost {
    /// The ports that endpoints have at some time, on their addresses.
    pub fn ports(&self) -> impl Iterator<Item = u16> {
        let added = self.changes.iter().filter_map(|change| match &change.command {
            KernelCommand::Add(endpoint) => Some(endpoint),
            _ => None,
        });
        self.endpoints.iter().chain(added).filter_map(|endpoint| endpoint.port)
    }

    /// The own address that routing picks for packets to `remote`.
    pub(crate) fn routed_to(&self, remote: IpAddr) -> Option<IpAddr> {
        self.routed.iter().find(|(known, _)| *known == remote).map(|(_, local)| *local)
    }
}

/// `ip mptcp limits`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelLimits {
    /// Subflows beside the initial one, whoever opened them.
    pub subflows: u8,
    /// Announcements of the peer (ADD_ADDR) that subflows are opened to.
    pub add_addr_accepted: u8,
}

impl KernelLimits {
    /// Does a new connection follow announcements?
    pub(crate) fn accept(self) -> bool {
        self.add_addr_accepted > 0 && self.subflows > 0
    }
}

impl Default for KernelLimits {
    fn default() -> Self {
        Self { subflows: 2, add_addr_accepted: 0 }
    }
}

/// A command of `ip mptcp`, and when it is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelChange {
    /// When, on the clock that the connection's calls take.
    pub at: Instant,
    /// What.
    pub command: KernelCommand,
}

/// What `ip mptcp` changes of a host, and of its connections that live.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KernelCommand {
    /// `endpoint add`.
    Add(KernelEndpoint),
    /// `endpoint delete id …`.
    Delete {
        /// The endpoint's identifier.
        id: u8,
    },
    /// `endpoint delete id 0 …`: of the connections whose first subflow has this address.
    DeleteInitial {
        /// The address.
        address: IpAddr,
    },
    /// `endpoint change`.
    Change {
        /// The endpoint's identifier.
        id: u8,
        /// The flag `backup` from now on.
        backup: bool,
        /// The flag `fullmesh` from now on.
        fullmesh: bool,
    },
    /// `limits set`.
    SetLimits(KernelLimits),
}

/// One line of `ip mptcp endpoint`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelEndpoint {
    /// Its address identifier.
    pub id: u8,
    /// A local address.
    pub address: IpAddr,
    /// Where the host listens, when that is not the connection's own port; with `signal` only.
    pub port: Option<u16>,
    /// What it is for.
    pub flags: EndpointFlags,
}

impl KernelEndpoint {
    /// Its address with its port, or with 0 for all ports.
    pub(crate) fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port.unwrap_or(0))
    }
}

/// What an endpoint is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EndpointFlags {
    /// A client opens a subflow from it to the peer's initial address.
    pub subflow: bool,
    /// It is announced with ADD_ADDR.
    pub signal: bool,
    /// Its subflows are backups.
    pub backup: bool,
    /// Subflows go from it to every address of the peer.
    pub fullmesh: bool,
    /// It opens one subflow to one announced address.
    pub laminar: bool,
}

/// One step of a scripted path manager.
#[derive(Clone, PartialEq, Debug)]
pub struct ScriptedStep {
    /// When, after the connection was established.
    pub at: Duration,
    /// On which path: an index into the scenario's list of this connection.
    pub path: u32,
    /// What.
    pub action: ScriptedAction,
}

/// What a scripted path manager does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScriptedAction {
    /// Open a subflow (MP_JOIN).
    Open {
        /// B = 1.
        backup: bool,
    },
    /// Close the subflow with FIN.
    Close,
    /// Reset the subflow.
    Reset,
    /// Change its priority (MP_PRIO).
    SetBackup {
        /// B.
        backup: bool,
    },
    /// Announce the local address of the path (ADD_ADDR).
    Announce,
    /// Withdraw the local address of the path (REMOVE_ADDR).
    Withdraw,
}

/// What others carry after a subflow's timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReinjectAfterTimeout {
    /// The oldest octets that only it carries, once for each timeout, and all of them when it counts as stale.
    Head,
    /// All that the subflow carries, at once.
    All,
    /// When no DATA_ACK has come for as long as the subflows' own timers run: a subflow with nothing on its way carries the
    /// oldest 32 kB. One that is silent for `stale_loss_cnt` such times becomes stale, and everything is sent again: Linux.
    Idle,
}

/// What a connection holds at most, whatever its peer does. `docs/models/mptcp.md` says what happens then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Subflows, those in TIME-WAIT included; more than 64 count as 64.
    pub subflows: u32,
    /// Joins that the peer has begun and not finished.
    pub half_open_subflows: u32,
    /// Addresses that the peer has announced.
    pub remote_addresses: u32,
    /// Options that wait for an ACK of one subflow to carry them.
    pub queued_options: u32,
    /// Events that nobody has polled, those left out that tell of a subflow's or the connection's beginning and end.
    pub events: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { subflows: 64, half_open_subflows: 16, remote_addresses: 32, queued_options: 16, events: 4096 }
    }
}

/// Hands the choices of a connection to the macro `$declare`, which makes [`Config`] of them here and a table of keys
/// where scenario files are read (see [`ropewalk_units::configuration`]). A line is a choice: name, type, unit, and what
/// `linux` and `classic` say. The name is the file's key.
#[macro_export]
macro_rules! mptcp_constants {
    ($declare:path) => {
        $declare! {
            /// The choices of one connection.
            #[derive(Clone, PartialEq, Debug)]
            pub struct Config {
                presets {
                    /// Upstream Linux: its scheduler, one uncoupled CUBIC per subflow, full mesh.
                    linux,
                    /// The papers' era: round robin, linked increases without the cap, no reinjection, an ample buffer.
                    classic,
                }
                keys {
                    /// DSS checksums (MP_CAPABLE's A flag).
                    checksum: bool = false, false;
                    /// Connection-level receive buffer.
                    receive_buffer: u32 [octets] = 6 * 1024 * 1024, 50_000_000;
                    /// DSS mappings that may wait for their data on any subflow, however small the receive buffer is.
                    least_mappings: u32 = 64, 64;
                    /// Connection-level send buffer, shared by the subflows; with `send_autotuning` what each subflow adds to it at
                    /// most.
                    send_buffer: u32 [octets] = 4 * 1024 * 1024, 4 * 1024 * 1024;
                    /// The send buffer is the sum of the subflows', each of them memory for two of its windows. An application that
                    /// has filled it hears of room when a third is free. As Linux, unless an application sets SO_SNDBUF.
                    send_autotuning: bool = true, false;
                    /// Buffers count memory: of a segment the next power of two above its payload and so many octets, and 256
                    /// more. 512 are Linux's without wireless and tunnels, 640 with them; 0: buffers count payload.
                    memory_overhead: u32 = 512, 0;
                    /// With cubic, what ends a subflow's first slow start before a loss does.
                    hystart: HyStart = HyStart::Linux, HyStart::Off;
                    /// With newreno and the coupled algorithms, slow start of the subflows grows by acknowledged octets (RFC 3465),
                    /// not by ACKs.
                    byte_counting: bool = true, false;
                    /// Opportunistic retransmission (Raiciu et al., NSDI 2012 §4.2).
                    opportunistic_retransmission: bool = false, false;
                    /// Penalization of the subflow that holds the window back (ibid.).
                    penalization: bool = false, false;
                    /// Reinject on another subflow what a timed-out or dead subflow carried.
                    reinjection: bool = true, false;
                    /// What a timeout of a subflow has carried by another one, if `reinjection` is on.
                    reinject_after_timeout: ReinjectAfterTimeout = ReinjectAfterTimeout::Idle, ReinjectAfterTimeout::All;
                    /// May the peer open further subflows to the address and port of the initial one? If not, MP_CAPABLE says
                    /// so with C (RFC 8684 §3.1), and such joins are refused (Linux `allow_join_initial_addr_port`).
                    allow_join_initial_addr_port: bool = true, true;
                    /// How long an unanswered ADD_ADDR waits at most before it is sent again, after an RTO else, three times;
                    /// 0 s: it never is (Linux `add_addr_timeout`).
                    add_addr_timeout: Duration = Duration::from_secs(120), Duration::from_secs(120);
                    /// Timeouts in a row after which a subflow counts as stale and gets no new data; 0: it never does (Linux
                    /// `stale_loss_cnt`).
                    stale_loss_cnt: u32 = 4, 4;
                    /// SYNs repeated with MP_CAPABLE before one goes without it, as a middlebox may drop the option's SYNs
                    /// (RFC 8684 §3.7); from 128 on all of them keep it (Linux `syn_retrans_before_tcp_fallback`).
                    syn_retrans_before_tcp_fallback: u32 = 2, 2;
                    /// How long a host opens plain TCP after only a SYN without MP_CAPABLE was answered, doubled each time it
                    /// happens again; 0 s: it tries each time. The driver's, which knows a host's connections (Linux
                    /// `blackhole_timeout`).
                    blackhole_timeout: Duration = Duration::from_secs(3600), Duration::ZERO;
                    /// How long a connection that is not finished waits for another subflow when the last one is gone (RFC 8684
                    /// §3.3.3); 0 s: it fails at once (Linux `close_timeout`).
                    close_timeout: Duration = Duration::from_secs(60), Duration::from_secs(60);
                }
                inner {
                    /// Of every subflow; the window owner, the option reserve and the congestion control are set by the
                    /// connection itself.
                    tcp: ropewalk_tcp::Config = ropewalk_tcp::Config::linux(), ropewalk_tcp::Config::classic();
                    /// Which subflow next. Files have a key for its name and one for each of its constants.
                    scheduler: Scheduler = Scheduler::Linux, Scheduler::RoundRobin;
                    /// Coupled congestion control. Files call it `congestion_control`.
                    coupling: Coupling = Coupling::Cubic, Coupling::LinkedIncreases;
                    /// Which subflows. Files have a key for its name and one for each of its constants.
                    path_manager: PathManager = PathManager::FullMesh, PathManager::FullMesh;
                    /// Bounds against a hostile peer.
                    limits: Limits = Limits::default(), Limits::default();
                    /// Emit the events that come with every decision (`Scheduled` and the like).
                    trace: bool = false, false;
                }
            }
        }
    };
}

mptcp_constants!(ropewalk_units::configuration);

/// The octets that a data segment keeps free for a DSS: DATA_ACK of 32 bits, DSN of 64, SSN, length, and
/// checksum or padding (RFC 8684 §3.3).
pub(crate) const OPTION_RESERVE: u32 = 24;

/// From so many on, every SYN keeps MP_CAPABLE.
const ALL_SYNS: u32 = 128;

impl Config {
    /// Does the SYN of this number, from 1, carry MP_CAPABLE?
    pub(crate) fn offers(&self, syn: u32) -> bool {
        let repeated = self.syn_retrans_before_tcp_fallback;
        repeated >= ALL_SYNS || syn <= 1 + repeated
    }

    /// The endpoints of this end, if its path manager has any.
    pub(crate) fn endpoints(&self, role: Role) -> &[KernelEndpoint] {
        self.kernel_host(role).map_or(&[], |host| &host.endpoints)
    }

    /// What `ip mptcp` has set on this end's host, if the kernel's path manager is in use.
    pub(crate) fn kernel_host(&self, role: Role) -> Option<&KernelHost> {
        match (&self.path_manager, role) {
            (PathManager::Kernel { client, .. }, Role::Client) => Some(client),
            (PathManager::Kernel { server, .. }, Role::Server) => Some(server),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn endpoint(id: u8, port: Option<u16>) -> KernelEndpoint {
        let address = IpAddr::V4(Ipv4Addr::new(10, 0, 0, id));
        KernelEndpoint { id, address, port, flags: EndpointFlags::default() }
    }

    #[test]
    fn the_ports_of_endpoints_are_those_there_are_and_those_that_come() {
        let change = |command| KernelChange { at: Instant::ZERO, command };
        let host = KernelHost {
            endpoints: vec![endpoint(1, None), endpoint(2, Some(8000))],
            changes: vec![
                change(KernelCommand::Add(endpoint(3, Some(9000)))),
                change(KernelCommand::Delete { id: 2 }),
            ],
            ..KernelHost::default()
        };
        assert_eq!(host.ports().collect::<Vec<_>>(), [8000, 9000]);
    }
}
