//! Applications on the kernel's sockets: a thread at each end of a connection.

mod bulk;
mod progress;
mod socket;

pub(crate) use progress::Progress;
pub(crate) use socket::{control, server_port};

use crate::clock::Clock;
use crate::error::{Error, Step};
use crate::namespace::Namespace;
use crate::site::Site;
use ropewalk_scenario::plan::{Application, ConnectionPlan, DataDirection, Plan};
use socket::{Client, Server, Sockets};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

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

/// All applications of a run. They end with it.
pub(crate) struct Applications {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// A connection with its sockets, before it begins.
struct Ready {
    connection: ConnectionPlan,
    client: Client,
    server: Server,
    progress: Arc<Progress>,
}

/// All connections with their sockets, before time begins.
pub(crate) struct Opened(Vec<Ready>);

impl Opened {
    /// Opens all sockets.
    pub(crate) fn new(plan: &Plan, site: &Site) -> Result<Self, Error> {
        let mut ready = Vec::new();
        for (index, connection) in plan.connections.iter().enumerate() {
            let sockets = Sockets::new(plan, connection, index);
            let step = || Step::Sockets(connection.name.clone());
            let failed = |source| Error::Kernel { step: step(), source };
            let inside = |node: usize| -> &Namespace { &site.namespaces[&node] };
            let server = inside(connection.destination).inside(|| sockets.server()).map_err(failed)?;
            let client = inside(connection.source).inside(|| sockets.client()).map_err(failed)?;
            let progress = Arc::new(Progress::default());
            ready.push(Ready { connection: connection.clone(), client, server, progress });
        }
        Ok(Self(ready))
    }

    /// What tells how far each connection has come.
    pub(crate) fn progress(&self) -> Vec<Arc<Progress>> {
        self.0.iter().map(|ready| Arc::clone(&ready.progress)).collect()
    }

    /// Begins. Connections wait for their time by themselves.
    pub(crate) fn begin(self, clock: Clock) -> Applications {
        let stage = Stage { clock, stop: Arc::new(AtomicBool::new(false)) };
        let mut all = Applications { stop: Arc::clone(&stage.stop), threads: Vec::new() };
        self.0.into_iter().for_each(|ready| all.threads.extend(ready.begin(&stage)));
        all
    }
}

impl Drop for Applications {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that has panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Ready {
    /// Both ends, each on a thread.
    fn begin(self, stage: &Stage) -> [JoinHandle<()>; 2] {
        let Self { connection, client, server, progress } = self;
        let connection = Arc::new(connection);
        let (own, its, shared) = (stage.clone(), Arc::clone(&connection), Arc::clone(&progress));
        let client = thread::spawn(move || {
            if !own.clock.wait_until(its.start, &own.stop) {
                return;
            }
            let stream = client.connect(&own.stop);
            run(&own, &its, stream, its.data == DataDirection::Forward, &shared);
        });
        let (own, its) = (stage.clone(), connection);
        let server = thread::spawn(move || {
            let stream = server.accept(&own.stop);
            run(&own, &its, stream, its.data == DataDirection::Backward, &progress);
        });
        [client, server]
    }
}

/// One end of a connection; `sends` is true at the one that has the data. The socket stays open until the run is over:
/// the kernel tells nothing of one that is closed.
fn run(
    stage: &Stage,
    connection: &ConnectionPlan,
    stream: std::io::Result<Option<socket::Stream>>,
    sends: bool,
    progress: &Progress,
) {
    let stream = match stream {
        Ok(Some(stream)) => stream,
        Ok(None) => return,
        Err(error) => return progress.fail(&error),
    };
    let result = match (&connection.application, sends) {
        (Application::Bulk(bulk), true) => bulk::send(stage, connection, bulk, &stream, progress),
        (Application::Bulk(_), false) => bulk::receive(stage, &stream, progress),
        _ => Err(std::io::Error::other("this application is not emulated yet")),
    };
    if let Err(error) = result {
        progress.fail(&error);
    }
    stage.clock.wait_until(ropewalk_units::Instant::MAX, &stage.stop);
}
