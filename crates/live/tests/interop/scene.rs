//! A kernel and a host of ours, with some TUN interfaces between them.

use crate::kernel::{self, Digester, Noise, Seen};
use crate::namespace::run;
use ropewalk_host::{Event, Host, Protocol, SocketId};
use ropewalk_live::{Ports, Verdict};
use ropewalk_mptcp as mptcp;
use ropewalk_tcp as tcp;
use ropewalk_units::{Duration, Instant};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Who opens the connection, seen from our side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Client,
    Server,
}

/// What our side saw of it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) fell_back: bool,
    /// Octets acknowledged on each subflow that was established.
    pub(crate) carried: Vec<u64>,
    pub(crate) retransmissions: u64,
}

/// A port that nothing else uses.
const PORT: u16 = 5001;
/// No test takes so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Seeds of the two directions' noise.
const TO_KERNEL: u64 = 11;
const FROM_KERNEL: u64 = 13;

fn kernel_address(path: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, path, 1)
}

fn host_address(path: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, path, 2)
}

pub(crate) struct Scene {
    pub(crate) ports: Ports,
    paths: u8,
    multipath: bool,
    pub(crate) mptcp: mptcp::Config,
    pub(crate) tcp: tcp::Config,
}

impl Scene {
    /// So many paths of 1 500 octets; Multipath TCP or plain TCP.
    pub(crate) fn new(paths: u8, multipath: bool) -> Self {
        let mut ports = Ports::new();
        run("ip mptcp limits set subflow 8 add_addr_accepted 8");
        for path in 0..paths {
            let name = format!("rw{path}");
            ports.open(&name, 1500, kernel_address(path), host_address(path)).expect("root opens TUN interfaces");
            if path > 0 {
                run(&format!("ip mptcp endpoint add {} dev {name} subflow", kernel_address(path)));
            }
        }
        let mptcp = mptcp::Config::linux();
        let tcp = tcp::Config::linux();
        Self { ports, paths, multipath, mptcp, tcp }
    }

    /// One packet of `every` is lost, in both directions.
    pub(crate) fn lose(&mut self, every: u64) {
        let mut state = 88_172_645_463_325_252u64;
        self.ports.set_middlebox(move |_, _, _, _| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.is_multiple_of(every) { Verdict::Drop } else { Verdict::Pass }
        });
    }

    fn protocol(&self) -> Protocol {
        if self.multipath {
            Protocol::Mptcp(Arc::new(self.mptcp.clone()))
        } else {
            Protocol::Tcp(Arc::new(self.tcp.clone()))
        }
    }

    /// Both sides send so many octets at the same time, and both have to see what the other one sent.
    pub(crate) fn run(mut self, role: Role, octets: u64) -> Report {
        let mut host = Host::new(self.ports.addresses(), [1, 2, 3, u64::from(self.paths)]);
        let out = Noise::new(FROM_KERNEL, octets);
        let (kernel, ours) = (
            SocketAddr::new(kernel_address(0).into(), PORT),
            SocketAddr::new(host_address(0).into(), PORT),
        );
        let (application, id) = match role {
            Role::Client => {
                let server = kernel::serve(self.multipath, kernel, out);
                let protocol = self.protocol();
                let id = host.connect(self.ports.now(), host_address(0).into(), kernel, &protocol);
                (server, id)
            }
            Role::Server => {
                host.listen(PORT, self.protocol());
                let from = SocketAddr::new(kernel_address(0).into(), 0);
                (kernel::connect(self.multipath, from, ours, out), None)
            }
        };
        let mut talk = Talk::new(id, octets);
        while !talk.is_over() {
            assert!(self.ports.now() < Instant::ZERO + PATIENCE, "it takes too long: {talk:?} {:?}", host.counters());
            self.ports.turn(&mut host, Duration::from_millis(100)).expect("the interfaces work");
            talk.go_on(self.ports.now(), &mut host);
        }
        let (seen, report) = talk.end();
        // The last acknowledgements.
        for _ in 0..20 {
            self.ports.turn(&mut host, Duration::from_millis(10)).expect("the interfaces work");
        }
        assert_eq!(seen, Noise::new(FROM_KERNEL, octets).seen(), "{role:?}: what the kernel sent");
        let kernel_saw = application.join().expect("the kernel's application");
        assert_eq!(kernel_saw, Noise::new(TO_KERNEL, octets).seen(), "{role:?}: what we sent");
        report
    }
}

/// Our application.
struct Talk {
    id: Option<SocketId>,
    out: Noise,
    /// Drawn and not yet taken by the send buffer.
    pending: Vec<u8>,
    digest: Digester,
    established: bool,
    finished: bool,
    report: Report,
    done: bool,
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "established {}, finished {}, {:?}", self.established, self.finished, self.report)
    }
}

impl Talk {
    fn new(id: Option<SocketId>, octets: u64) -> Self {
        Self {
            id,
            out: Noise::new(TO_KERNEL, octets),
            pending: Vec::new(),
            digest: Digester::default(),
            established: false,
            finished: false,
            report: Report { fell_back: false, carried: Vec::new(), retransmissions: 0 },
            done: false,
        }
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn go_on(&mut self, now: Instant, host: &mut Host) {
        while let Some(event) = host.poll_event() {
            match event {
                Event::Accepted(id) => self.id = Some(id),
                Event::Established(_) => self.established = true,
                Event::Closed(_, Some(error)) => panic!("the connection failed: {error} {self:?}"),
                Event::Mptcp(_, mptcp::Event::FellBack(reason)) => {
                    println!("fell back: {reason:?}");
                    self.report.fell_back = true;
                }
                Event::Closed(_, None) => self.done = true,
                Event::Mptcp(..) => {}
            }
        }
        let Some(id) = self.id else { return };
        self.look(host, id);
        let mut octets = Vec::new();
        host.read(now, id, usize::MAX, &mut octets);
        self.digest.take(&octets);
        if !self.established {
            return;
        }
        while !self.finished {
            if self.pending.is_empty() {
                self.pending = self.out.next(1 << 16);
            }
            if self.pending.is_empty() {
                host.finish(now, id);
                self.finished = true;
                break;
            }
            let taken = host.write(now, id, &self.pending);
            self.pending.drain(..taken);
            if taken == 0 {
                break;
            }
        }
    }

    fn look(&mut self, host: &Host, id: SocketId) {
        if let Some(connection) = host.mptcp(id) {
            let established = connection.subflows().filter(|subflow| subflow.was_established());
            let stats = established.map(|subflow| *subflow.tcp().stats()).collect::<Vec<_>>();
            if stats.len() >= self.report.carried.len() {
                self.report.carried = stats.iter().map(|stats| stats.bytes_acked).collect();
                self.report.retransmissions = stats.iter().map(|stats| stats.retransmissions).sum();
            }
        } else if let Some(connection) = host.tcp(id) {
            self.report.retransmissions = connection.stats().retransmissions;
        }
    }

    fn end(self) -> (Seen, Report) {
        (self.digest.seen(), self.report)
    }
}
