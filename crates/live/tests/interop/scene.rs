//! A kernel and a host of ours, with some TUN interfaces between them.

use crate::kernel::{self, Digester, Noise, Seen};
use crate::middlebox::Middlebox;
use crate::namespace::{self, run};
use crate::watch::Watch;
use ropewalk_host::{CookiePolicy, Event, Host, Protocol, SocketId};
use ropewalk_live::{Ports, Way};
use ropewalk_mptcp as mptcp;
use ropewalk_tcp as tcp;
use ropewalk_units::{Duration, Instant};
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
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
    /// [`Self::carried`] when something was changed.
    pub(crate) carried_before: Vec<u64>,
    /// Why the connection failed, if it did.
    failed: Option<String>,
    seconds: f64,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let carried = self.carried.iter().map(|octets| format!("{:.1}", *octets as f64 / 1e6));
        let carried = carried.collect::<Vec<_>>().join(" ");
        let fell_back = if self.fell_back { "yes" } else { "no" };
        write!(f, "{:8.2} {:9} {fell_back:>9}  {carried}", self.seconds, self.retransmissions)
    }
}

/// A port that nothing else uses.
const PORT: u16 = 5001;
/// What a failure says where every packet of ours was right and the kernel's application saw
/// another stream.
pub(crate) const MISPLACED: &str = "the kernel saw what no packet said";
/// No test of 5 MB takes so long.
const PATIENCE: Duration = Duration::from_secs(180);
/// A join that has not come by then does not come: the kernel rejects one that is faster than the
/// end of its handshake.
const JOINS: Duration = Duration::from_secs(10);
/// What it may take for each MB more.
const PATIENCE_PER_MEGABYTE: Duration = Duration::from_secs(1);
/// Seeds of the two directions' noise.
const TO_KERNEL: u64 = 11;
const FROM_KERNEL: u64 = 13;

/// Which internet protocol the paths speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    fn address(self, path: u8, side: u8) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::new(10, 9, path, side).into(),
            Self::V6 => Ipv6Addr::new(0xfd09, 0, 0, path.into(), 0, 0, 0, side.into()).into(),
        }
    }

    fn kernel_address(self, path: u8) -> IpAddr {
        self.address(path, 1)
    }

    fn host_address(self, path: u8) -> IpAddr {
        self.address(path, 2)
    }
}

/// Something that is done in the kernel once it has acknowledged so many octets of ours, on all
/// paths.
pub(crate) type Meanwhile = (u64, fn());

pub(crate) struct Scene {
    pub(crate) ports: Ports,
    middlebox: Option<Middlebox>,
    family: Family,
    paths: u8,
    multipath: bool,
    pub(crate) mptcp: mptcp::Config,
    pub(crate) tcp: tcp::Config,
    /// Octets that we send, and that the kernel sends.
    pub(crate) octets: [u64; 2],
    /// Half of our stream waits until so many subflows are there: joins come when the kernel finds
    /// the time for them.
    pub(crate) joined: usize,
    /// Our application reads nothing for so many milliseconds.
    pub(crate) pause: u64,
    /// Our application aborts once it has read so many octets.
    pub(crate) aborts_after: Option<u64>,
    /// The kernel's application aborts once it has read so many octets.
    pub(crate) kernel_aborts_after: Option<u64>,
    pub(crate) meanwhile: Option<Meanwhile>,
    /// When our path manager changes something.
    changes: Option<Instant>,
    /// The connection has to fail: with this error on our side.
    pub(crate) fails: Option<&'static str>,
    /// When our host answers SYNs with cookies.
    pub(crate) cookies: CookiePolicy,
}

impl Scene {
    /// So many paths of 1 500 octets; Multipath TCP or plain TCP. Whoever is the client joins from
    /// its other addresses.
    pub(crate) fn new(family: Family, paths: u8, multipath: bool, role: Role) -> Self {
        let mut ports = Ports::new();
        run("ip mptcp limits set subflow 8 add_addr_accepted 8");
        for path in 0..paths {
            let name = format!("rw{path}");
            ports
                .open(&name, 1500, family.kernel_address(path), family.host_address(path))
                .expect("root opens TUN interfaces");
            if path > 0 && role == Role::Server {
                run(&format!("ip mptcp endpoint add {} dev {name} subflow", family.kernel_address(path)));
            }
        }
        let mptcp = mptcp::Config::linux();
        let tcp = tcp::Config::linux();
        let octets = [crate::megabytes() << 20; 2];
        Self {
            ports,
            middlebox: None,
            family,
            paths,
            multipath,
            mptcp,
            tcp,
            octets,
            joined: paths.into(),
            pause: 0,
            aborts_after: None,
            kernel_aborts_after: None,
            meanwhile: None,
            changes: None,
            fails: None,
            cookies: CookiePolicy::default(),
        }
    }

    /// All packets go through this.
    pub(crate) fn through(&mut self, middlebox: Middlebox) {
        self.middlebox = Some(middlebox);
    }

    /// Our second address, as `ip mptcp endpoint` would name it.
    pub(crate) fn second_endpoint(&self, flags: mptcp::EndpointFlags) -> mptcp::KernelEndpoint {
        mptcp::KernelEndpoint { id: 1, address: self.family.host_address(1), port: None, flags }
    }

    /// Our host has this endpoint and no other, and changes it as time goes on.
    pub(crate) fn endpoint(&mut self, endpoint: mptcp::KernelEndpoint, changes: Vec<mptcp::KernelChange>) {
        self.changes = changes.first().map(|change| change.at);
        let host = mptcp::KernelHost { endpoints: vec![endpoint], changes, ..mptcp::KernelHost::default() };
        self.mptcp.path_manager = mptcp::PathManager::Kernel { client: host.clone(), server: host };
    }

    /// Each packet of ours is looked at before anything on the way can change it.
    fn watch(&mut self) -> Rc<RefCell<Watch>> {
        let watch = Rc::new(RefCell::new(Watch::new(Noise::new(TO_KERNEL, self.octets[0]))));
        let (ours, mut middlebox) = (Rc::clone(&watch), self.middlebox.take());
        self.ports.set_middlebox(move |now, way, port, packet, out| {
            if way == Way::Out {
                ours.borrow_mut().look(packet);
            }
            match &mut middlebox {
                Some(middlebox) => middlebox(now, way, port, packet, out),
                None => out.push(packet.to_vec()),
            }
        });
        watch
    }

    fn protocol(&self) -> Protocol {
        if self.multipath {
            Protocol::Mptcp(Arc::new(self.mptcp.clone()))
        } else {
            Protocol::Tcp(Arc::new(self.tcp.clone()))
        }
    }

    /// Both sides send at the same time, and both have to see what the other one sent.
    pub(crate) fn run(mut self, role: Role) -> Report {
        let [to_kernel, from_kernel] = self.octets;
        let patience = PATIENCE + PATIENCE_PER_MEGABYTE.saturating_mul(to_kernel.max(from_kernel) >> 20);
        let watch = self.watch();
        let mut host = Host::new(self.ports.addresses(), [1, 2, 3, u64::from(self.paths)]);
        host.set_cookies(self.cookies);
        let out = Noise::new(FROM_KERNEL, from_kernel);
        let from = self.family.kernel_address(0);
        let (kernel, ours) =
            (SocketAddr::new(from, PORT), SocketAddr::new(self.family.host_address(0), PORT));
        let aborts_after = self.kernel_aborts_after;
        let (application, id) = match role {
            Role::Client => {
                let server = kernel::serve(self.multipath, kernel, out, aborts_after);
                let protocol = self.protocol();
                let id = host.connect(self.ports.now(), ours.ip(), kernel, &protocol);
                (server, id)
            }
            Role::Server => {
                host.listen(PORT, self.protocol());
                let from = SocketAddr::new(from, 0);
                (kernel::connect(self.multipath, from, ours, out, aborts_after), None)
            }
        };
        let mut talk = Talk::new(id, to_kernel, &self);
        while !talk.is_over() {
            assert!(
                self.ports.now() < Instant::ZERO + patience,
                "it takes too long: {talk:?} {:?}",
                host.counters()
            );
            self.ports.turn(&mut host, Duration::from_millis(100)).expect("the interfaces work");
            talk.go_on(self.ports.now(), &mut host);
        }
        let (seen, report) = talk.end();
        // The last acknowledgements.
        for _ in 0..20 {
            self.ports.turn(&mut host, Duration::from_millis(10)).expect("the interfaces work");
        }
        // A signal that is sent once, as MP_PRIO is, could be among them.
        assert_eq!(namespace::dropped(), 0, "{role:?}: packets that waited for us, and were dropped");
        assert_eq!(report.failed.as_deref(), self.fails, "{role:?}: {report:?}");
        if self.fails.is_some() {
            return report;
        }
        assert_eq!(seen, Noise::new(FROM_KERNEL, from_kernel).seen(), "{role:?}: what the kernel sent");
        let kernel_saw = application.join().expect("the kernel's application");
        assert_eq!(watch.borrow().verdict(), Ok(()), "{role:?}: the packets that we sent");
        assert_eq!(kernel_saw, Noise::new(TO_KERNEL, to_kernel).seen(), "{role:?}: {MISPLACED}");
        report
    }
}

/// Our application.
struct Talk {
    id: Option<SocketId>,
    out: Noise,
    /// Octets that wait for subflows, the last ones of the stream, and how many subflows those are.
    held: (u64, usize),
    /// Drawn and not yet taken by the send buffer.
    pending: Vec<u8>,
    digest: Digester,
    established: bool,
    finished: bool,
    report: Report,
    acknowledged: bool,
    done: bool,
    /// It reads nothing before.
    begins: Instant,
    aborts_after: Option<u64>,
    meanwhile: Option<Meanwhile>,
    /// When our path manager changes something.
    changes: Option<Instant>,
    paths: u8,
}

impl std::fmt::Debug for Talk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "established {}, finished {}, {:?}", self.established, self.finished, self.report)
    }
}

impl Talk {
    fn new(id: Option<SocketId>, octets: u64, scene: &Scene) -> Self {
        Self {
            id,
            out: Noise::new(TO_KERNEL, octets),
            held: (if scene.multipath { octets / 2 } else { 0 }, scene.joined),
            pending: Vec::new(),
            digest: Digester::default(),
            established: false,
            finished: false,
            report: Report {
                fell_back: false,
                carried: Vec::new(),
                carried_before: Vec::new(),
                retransmissions: 0,
                failed: None,
                seconds: 0.0,
            },
            acknowledged: false,
            done: false,
            begins: Instant::ZERO + Duration::from_millis(scene.pause),
            aborts_after: scene.aborts_after,
            meanwhile: scene.meanwhile,
            changes: scene.changes,
            paths: scene.paths,
        }
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn go_on(&mut self, now: Instant, host: &mut Host) {
        while let Some(event) = host.poll_event() {
            match event {
                // A joining SYN without its option opens a connection of its own, which the kernel
                // resets.
                Event::Accepted(id) => self.id = self.id.or(Some(id)),
                Event::Established(id) | Event::Closed(id, _) | Event::Mptcp(id, _)
                    if Some(id) != self.id => {}
                Event::Established(_) => self.established = true,
                Event::Closed(_, Some(error)) => {
                    self.report.failed = Some(error);
                    self.done = true;
                }
                Event::Mptcp(_, mptcp::Event::FellBack(reason)) => {
                    println!("fell back: {reason:?}");
                    self.report.fell_back = true;
                }
                // A dark path keeps its subflow from closing: the streams are over before.
                Event::Closed(_, None) | Event::Mptcp(_, mptcp::Event::FinishAcknowledged) => {
                    self.acknowledged = true;
                }
                Event::Mptcp(..) => {}
            }
        }
        let Some(id) = self.id else { return };
        self.look(host, id);
        let mut octets = Vec::new();
        if now >= self.begins {
            host.read(now, id, usize::MAX, &mut octets);
        }
        self.digest.take(&octets);
        let carried = &self.report.carried;
        let all_carry = carried.iter().filter(|octets| **octets > 0).count() == usize::from(self.paths);
        let is_time = |after: u64| all_carry && carried.iter().sum::<u64>() > after;
        if let Some((_, act)) = self.meanwhile.take_if(|(after, _)| is_time(*after)) {
            act();
            self.report.carried_before.clone_from(&self.report.carried);
        }
        if self.changes.take_if(|at| now >= *at).is_some() {
            self.report.carried_before.clone_from(&self.report.carried);
        }
        if self.aborts_after.take_if(|after| self.digest.octets() > *after).is_some() {
            return host.abort(now, id);
        }
        if self.acknowledged && !self.done && host.peer_finished(id) {
            self.done = true;
            self.report.seconds = (now - Instant::ZERO).as_secs_f64();
        }
        if !self.established {
            return;
        }
        while !self.finished {
            if self.pending.is_empty() {
                let waits = self.report.carried.len() < self.held.1 && now < Instant::ZERO + JOINS;
                let held = if waits { self.held.0 } else { 0 };
                let free = self.out.left().saturating_sub(held);
                if free == 0 && held > 0 {
                    break;
                }
                self.pending = self.out.next(free.min(1 << 16) as usize);
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
