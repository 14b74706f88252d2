//! The choices of one Multipath TCP connection.

use crate::path_manager::Role;
use ropewalk_units::Duration;
use std::net::IpAddr;

/// Which subflow gets the next data.
#[derive(Clone, PartialEq, Debug)]
pub enum Scheduler {
    /// Cycle over the subflows that have room: the papers' scheduler.
    RoundRobin,
    /// Lowest SRTT with room first: the out-of-tree kernel's default.
    LowestRtt,
    /// Upstream Linux: least time to drain what is queued on a subflow, in bursts of up to 64 kB.
    Linux,
    /// Cycle with weights, one per path in the order in which the scenario lists them.
    WeightedRoundRobin {
        /// Segments per turn; missing ones count 1.
        weights: Vec<u32>,
    },
    /// Everything on every subflow; what is DATA_ACKed already is skipped.
    Redundant,
    /// BLEST (Ferlin et al., Networking 2016).
    Blest,
    /// ECF (Lim et al., CoNEXT 2017).
    Ecf,
    /// Leave a path out while using it would cost more than it brings; probe it so that it can return.
    GoodputGuard(GuardConfig),
}

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

/// How the windows of the subflows depend on each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coupling {
    /// Each subflow runs NewReno on its own.
    Uncoupled,
    /// +1/w per ACK, −w/2 per loss (Kelly & Voice; 003 §3).
    FullyCoupled,
    /// +α/w per ACK, without the cap (003 eq. 3).
    LinkedIncreases,
    /// min(α/w, 1/w_i) per ACK (003 eq. 5).
    RttCompensator,
    /// RFC 6356.
    Lia,
    /// Khalili et al., CoNEXT 2012.
    Olia,
    /// Peng et al., ToN 2016.
    Balia,
    /// Cao, Xu, Fu, ICNP 2012.
    Wvegas,
    /// One CUBIC (RFC 9438) per subflow, as upstream Linux does by default.
    Cubic,
    /// One BBR per subflow.
    Bbr,
}

/// Which subflows are opened.
#[derive(Clone, PartialEq, Debug)]
pub enum PathManager {
    /// One per pair of a local and a remote address that the scenario's paths name or ADD_ADDR announces.
    FullMesh,
    /// So many over the first path, from different ports.
    Ndiffports {
        /// Subflows in all, the first included.
        subflows: u32,
    },
    /// As full mesh, but all except the first are opened with B = 1.
    Backup,
    /// Just the steps listed.
    Scripted {
        /// In order of time.
        steps: Vec<ScriptedStep>,
    },
    /// Linux's in-kernel path manager, with what `ip mptcp` has set on each host.
    Kernel {
        /// On the host that opens the connection.
        client: KernelHost,
        /// On the host that accepts it.
        server: KernelHost,
    },
}

/// What `ip mptcp` has set on one host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KernelHost {
    /// `ip mptcp limits`.
    pub limits: KernelLimits,
    /// `ip mptcp endpoint`, in the order in which they were added.
    pub endpoints: Vec<KernelEndpoint>,
    /// Where the host's routes lead: for an address of the peer, the own one that packets to it leave from.
    pub routed: Vec<(IpAddr, IpAddr)>,
}

impl KernelHost {
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

impl Default for KernelLimits {
    fn default() -> Self {
        Self { subflows: 2, add_addr_accepted: 0 }
    }
}

/// One line of `ip mptcp endpoint`.
#[derive(Clone, PartialEq, Debug)]
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
    /// The oldest octets that only it carries, once for each timeout, and all of them when it counts as stale: Linux.
    Head,
    /// All that the subflow carries, at once.
    All,
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

/// The choices of one connection.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Of every subflow; the window owner, the option reserve and the congestion control are set by the
    /// connection itself.
    pub tcp: ropewalk_tcp::Config,
    /// Which subflow next.
    pub scheduler: Scheduler,
    /// Coupled congestion control.
    pub coupling: Coupling,
    /// Which subflows.
    pub path_manager: PathManager,
    /// DSS checksums (MP_CAPABLE's A flag).
    pub checksum: bool,
    /// Connection-level receive buffer in octets.
    pub receive_buffer: u32,
    /// Connection-level send buffer in octets, shared by the subflows.
    pub send_buffer: u32,
    /// Opportunistic retransmission (Raiciu et al., NSDI 2012 §4.2).
    pub opportunistic_retransmission: bool,
    /// Penalization (ibid.).
    pub penalization: bool,
    /// Reinject on another subflow what a timed-out or dead subflow carried.
    pub reinjection: bool,
    /// A subflow hears of data that arrive before those of other subflows only when its turn has come, so that a slow path
    /// stalls a fast one. No stack should; receivers of early simulators did.
    pub acks_wait_for_data_order: bool,
    /// How long an unanswered ADD_ADDR waits at most before it is sent again, after an RTO else; zero: it never is (Linux
    /// `add_addr_timeout`).
    pub add_addr_timeout: Duration,
    /// Timeouts in a row after which a subflow counts as stale and gets no new data (Linux `stale_loss_cnt`).
    pub stale_loss_cnt: u32,
    /// SYNs repeated with MP_CAPABLE before one goes without it, as a middlebox may drop the option's SYNs (RFC 8684
    /// §3.7); from 128 on all of them keep it (Linux `syn_retrans_before_tcp_fallback`).
    pub syn_retrans_before_tcp_fallback: u32,
    /// How long a host opens plain TCP after only a SYN without MP_CAPABLE was answered, doubled each time it happens
    /// again; zero: never. The driver's, which knows a host's connections (Linux `blackhole_timeout`).
    pub blackhole_timeout: Duration,
    /// What a timeout of a subflow has carried by another one, if [`Config::reinjection`] is on.
    pub reinject_after_timeout: ReinjectAfterTimeout,
    /// May the peer open further subflows to the address and port of the initial one? If not, MP_CAPABLE says so with C
    /// (RFC 8684 §3.1), and such joins are refused (Linux `allow_join_initial_addr_port`).
    pub allow_join_initial_addr_port: bool,
    /// Bounds against a hostile peer.
    pub limits: Limits,
    /// Emit the events that come with every decision (`Scheduled` and the like).
    pub trace: bool,
}

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
        match (&self.path_manager, role) {
            (PathManager::Kernel { client, .. }, Role::Client) => &client.endpoints,
            (PathManager::Kernel { server, .. }, Role::Server) => &server.endpoints,
            _ => &[],
        }
    }

    /// Upstream Linux: its scheduler, one uncoupled CUBIC per subflow, full mesh.
    pub fn linux() -> Self {
        Self {
            tcp: ropewalk_tcp::Config::linux(),
            scheduler: Scheduler::Linux,
            coupling: Coupling::Cubic,
            path_manager: PathManager::FullMesh,
            checksum: false,
            receive_buffer: 6 * 1024 * 1024,
            send_buffer: 4 * 1024 * 1024,
            opportunistic_retransmission: false,
            penalization: false,
            reinjection: true,
            acks_wait_for_data_order: false,
            add_addr_timeout: Duration::from_secs(120),
            stale_loss_cnt: 4,
            syn_retrans_before_tcp_fallback: 2,
            blackhole_timeout: Duration::from_secs(3600),
            reinject_after_timeout: ReinjectAfterTimeout::Head,
            allow_join_initial_addr_port: true,
            limits: Limits::default(),
            trace: false,
        }
    }

    /// The papers' era: round robin, linked increases without the cap, no reinjection, an ample buffer.
    pub fn classic() -> Self {
        Self {
            tcp: ropewalk_tcp::Config::classic(),
            scheduler: Scheduler::RoundRobin,
            coupling: Coupling::LinkedIncreases,
            path_manager: PathManager::FullMesh,
            checksum: false,
            receive_buffer: 50_000_000,
            send_buffer: 4 * 1024 * 1024,
            opportunistic_retransmission: false,
            penalization: false,
            reinjection: false,
            acks_wait_for_data_order: false,
            add_addr_timeout: Duration::from_secs(120),
            stale_loss_cnt: 4,
            syn_retrans_before_tcp_fallback: 2,
            blackhole_timeout: Duration::ZERO,
            reinject_after_timeout: ReinjectAfterTimeout::All,
            allow_join_initial_addr_port: true,
            limits: Limits::default(),
            trace: false,
        }
    }
}
