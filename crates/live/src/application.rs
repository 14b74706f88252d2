//! Applications on the kernel's sockets: the scenario's sources and sinks, with a thread at each
//! end of a connection.

mod datagram;
mod own;
mod progress;
mod socket;
mod stream;

pub(crate) use datagram::LEAST as LEAST_DATAGRAM;
pub(crate) use own::OwnEnd;
pub(crate) use progress::Progress;
pub(crate) use socket::{control, server_port};

use crate::clock::Clock;
use crate::error::{Error, Step};
use crate::processor::Share;
use crate::site::Site;
use crate::urgency::{self, Urgency};
use own::Opening;
use ropewalk_scenario::application::{Paced, Sink, Source, paced, sources};
use ropewalk_scenario::plan::{ConnectionPlan, NodeIndex, PathPlan, Plan, Protocol};
use ropewalk_sim::Streams;
use ropewalk_units::Instant;
use socket::{Client, Server, Sockets, Stream};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use stream::{Outgoing, Running};

/// What the applications share.
#[derive(Clone)]
struct Stage {
    clock: Clock,
    stop: Arc<AtomicBool>,
}

impl Stage {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Which way the octets that count go, seen from one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DataEnd {
    /// It sends them.
    Sender,
    /// It receives them.
    Receiver,
}

/// One end of a stream connection.
struct End {
    source: Source,
    /// What it has written and the kernel has not taken.
    outgoing: Outgoing,
    data: DataEnd,
    progress: Arc<Progress>,
}

impl End {
    /// The source writes its first data when the connection is to be opened, as in simulation: the
    /// time of a request counts from then on.
    fn begin(&mut self, now: Instant) {
        self.source.pump(now, &Sink::default(), &mut self.outgoing);
    }
}

/// What a thread does.
type Work = Box<dyn FnOnce(&Stage) -> io::Result<()> + Send>;

/// The sockets of a connection, and what is done with them.
enum Sides {
    /// Ends at hosts of ours are not here.
    Stream {
        client: Option<Box<(Client, End)>>,
        server: Option<Box<(Server, End)>>,
    },
    Udp {
        sender: Stream,
        receiver: Stream,
        paced: Box<Paced>,
    },
}

/// A connection before it begins.
struct Ready {
    start: Instant,
    sides: Sides,
    progress: Arc<Progress>,
}

/// All connections with their sockets, before time begins.
pub(crate) struct Opened {
    ready: Vec<Ready>,
    /// Ends at hosts of ours.
    own: BTreeMap<NodeIndex, Vec<OwnEnd>>,
}

/// All applications of a run. They end with it.
pub(crate) struct Applications {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Share>>,
}

impl Opened {
    /// Opens all sockets.
    pub(crate) fn new(plan: &Plan, site: &Site, seed: u64) -> Result<Self, Error> {
        let streams = Streams::new(seed);
        let (mut ready, mut own) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for (index, connection) in plan.connections.iter().enumerate() {
            let failed = |source| Error::Kernel { step: Step::Sockets(connection.name.clone()), source };
            let sockets = Sockets::new(plan, connection, index);
            let (opened, ends) = open(plan, index, site, (&streams, &sockets)).map_err(failed)?;
            ready.push(opened);
            ends.into_iter().for_each(|(node, end)| own.entry(node).or_default().push(end));
        }
        Ok(Self { ready, own })
    }

    /// The ends at a host of ours.
    pub(crate) fn take_own(&mut self, node: NodeIndex) -> Vec<OwnEnd> {
        self.own.remove(&node).unwrap_or_default()
    }

    /// What tells how far each connection has come.
    pub(crate) fn progress(&self) -> Vec<Arc<Progress>> {
        self.ready.iter().map(|ready| Arc::clone(&ready.progress)).collect()
    }

    /// Begins. Connections wait for their time by themselves.
    pub(crate) fn begin(self, clock: Clock) -> Applications {
        let stage = Stage { clock, stop: Arc::new(AtomicBool::new(false)) };
        let mut all = Applications { stop: Arc::clone(&stage.stop), threads: Vec::new() };
        self.ready.into_iter().for_each(|ready| all.threads.extend(ready.begin(&stage)));
        all
    }
}

/// The sockets of the connection with this index, and its ends at hosts of ours.
fn open(
    plan: &Plan,
    index: usize,
    site: &Site,
    (streams, sockets): (&Streams, &Sockets<'_>),
) -> io::Result<(Ready, Vec<(NodeIndex, OwnEnd)>)> {
    let connection = &plan.connections[index];
    let progress = Arc::new(Progress::default());
    let ends = [connection.source, connection.destination];
    if let Protocol::Udp = connection.protocol {
        let [client, server] = ends.map(|node| &site.namespaces[&node]);
        let ends =
            [client.inside(|| sockets.client_datagrams())?, server.inside(|| sockets.server_datagrams())?];
        let [mut sender, mut receiver] = ends;
        if connection.server_sends() {
            std::mem::swap(&mut sender, &mut receiver);
        }
        let paced = paced(plan, connection, streams)
            .ok_or_else(|| io::Error::other("UDP has no such application"))?;
        let sides = Sides::Udp { sender, receiver, paced: Box::new(paced) };
        return Ok((Ready { start: connection.start, sides, progress }, Vec::new()));
    }
    let [asking, answering] = sources(plan, connection, streams);
    let (client_data, server_data) = match connection.server_sends() {
        true => (DataEnd::Receiver, DataEnd::Sender),
        false => (DataEnd::Sender, DataEnd::Receiver),
    };
    let end = |source, data| {
        let outgoing = Outgoing::default();
        End { source, outgoing, data, progress: Arc::clone(&progress) }
    };
    let (mut own, mut client, mut server) = (Vec::new(), None, None);
    let mut add_own = |node, opening, source, data| {
        own.push((node, OwnEnd::new(index, opening, (source, data), Arc::clone(&progress))));
    };
    match site.namespaces.get(&ends[1]) {
        Some(kernel) => {
            let socket = kernel.inside(|| sockets.server())?;
            server = Some(Box::new((socket, end(answering, server_data))));
        }
        None => {
            let opening = Opening::Passive { protocol: own_protocol(connection) };
            add_own(ends[1], opening, answering, server_data);
        }
    }
    match site.namespaces.get(&ends[0]) {
        Some(kernel) => {
            let socket = kernel.inside(|| sockets.client())?;
            client = Some(Box::new((socket, end(asking, client_data))));
        }
        None => {
            let (start, protocol) = (connection.start, own_protocol(connection));
            let opening = Opening::Active { start, paths: own_paths(plan, index), protocol };
            add_own(ends[0], opening, asking, client_data);
        }
    }
    Ok((Ready { start: connection.start, sides: Sides::Stream { client, server }, progress }, own))
}

/// What a host of ours speaks on a connection.
fn own_protocol(connection: &ConnectionPlan) -> ropewalk_host::Protocol {
    match &connection.protocol {
        Protocol::Tcp(config) => ropewalk_host::Protocol::Tcp(Arc::clone(config)),
        Protocol::Mptcp(config) => ropewalk_host::Protocol::Mptcp(Arc::new((**config).clone())),
        Protocol::Udp => unreachable!("checked: a host of ours beside Linux's has no datagrams"),
    }
}

/// The paths of the connection with this index as its client knows them; ports of its own are the
/// host's choice.
fn own_paths(plan: &Plan, index: usize) -> Vec<ropewalk_mptcp::Path> {
    let path = |path: &PathPlan| {
        let [local, remote] = path.addresses().map(|address| plan.address(address));
        let (local, remote) = (SocketAddr::new(local, 0), SocketAddr::new(remote, server_port(index)));
        ropewalk_mptcp::Path { local, remote }
    };
    plan.connections[index].paths.iter().map(path).collect()
}

impl Applications {
    /// Ends them. Returns the processor time that they had.
    pub(crate) fn end(&mut self) -> Share {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that has panicked has printed why.
        self.threads.drain(..).filter_map(|thread| thread.join().ok()).sum()
    }
}

impl Drop for Applications {
    fn drop(&mut self) {
        self.end();
    }
}

impl Ready {
    /// Both ends, each on a thread.
    fn begin(self, stage: &Stage) -> Vec<JoinHandle<Share>> {
        let Self { start, sides, progress } = self;
        let spawn = |work: Work| {
            let (stage, progress) = (stage.clone(), Arc::clone(&progress));
            thread::spawn(move || {
                urgency::apply(Urgency::Applications);
                if let Err(error) = work(&stage) {
                    progress.fail(&error);
                }
                // This thread has done nothing but this work.
                Share::of_thread()
            })
        };
        match sides {
            Sides::Stream { client, server } => {
                let client = client.map(|client| {
                    spawn(Box::new(move |stage| {
                        let (client, mut asking) = *client;
                        if !stage.clock.wait_until(start, &stage.stop) {
                            return Ok(());
                        }
                        asking.begin(stage.clock.now());
                        follow(stage, client.connect(&stage.stop)?, &mut asking)
                    }))
                });
                let server = server.map(|server| {
                    spawn(Box::new(move |stage| {
                        let (server, mut answering) = *server;
                        follow(stage, server.accept(&stage.stop)?, &mut answering)
                    }))
                });
                client.into_iter().chain(server).collect()
            }
            Sides::Udp { sender, receiver, mut paced } => {
                let (sent, received) = (Arc::clone(&progress), Arc::clone(&progress));
                vec![
                    spawn(Box::new(move |stage| datagram::send(stage, &mut paced, &sender, &sent))),
                    spawn(Box::new(move |stage| datagram::receive(stage, &receiver, &received))),
                ]
            }
        }
    }
}

/// One end of a connection that has opened. Its socket stays open until the run is over, whatever
/// happens: the kernel tells nothing of one that is closed.
fn follow(stage: &Stage, stream: Option<Stream>, end: &mut End) -> io::Result<()> {
    let Some(stream) = stream else { return Ok(()) };
    let progress = Arc::clone(&end.progress);
    if let Err(error) = Running::new(stage, end, &stream).run() {
        progress.fail(&error);
        stage.clock.wait_until(Instant::MAX, &stage.stop);
    }
    Ok(())
}
