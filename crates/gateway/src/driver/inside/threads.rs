//! Several queues of the TUN interface, with two threads each: one reads, one writes. They make the
//! system calls, cut what the kernel has joined, join what goes together, and reckon checksums.
//!
//! The loop waits for a thread that writes and is slow, a thread that reads waits for the loop. No
//! thread that writes waits for the loop, so none waits for ever.

use super::batch::{Batch, Pool};
use super::queue::{Queue, Read, Sink, Source};
use crate::driver::confine::give_up_capabilities;
use crate::packet::{FlowHasher, Header};
use rustix::event::{PollFd, PollFlags, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Batches that wait between two threads at the most.
const WAITING: usize = 8;

/// A thread has panicked. Without it some flows would be dead.
const ENDED: &str = "a thread of the interface has ended";

/// What a thread that reads has to tell.
enum Came {
    Packets(Batch),
    /// Something that is no packet.
    Unknown,
    /// It reads no more.
    Failed(io::Error),
}

/// The threads of all queues, as the loop sees them.
pub(super) struct Threads {
    came: Receiver<Came>,
    /// Is raised when something has come.
    event: Arc<OwnedFd>,
    lanes: Vec<Lane>,
    hasher: FlowHasher,
    pool: Arc<Pool>,
    /// System calls that the kernel has refused.
    refused: Arc<AtomicU64>,
    /// A thread that writes has ended before its time.
    is_broken: bool,
}

/// The way to a thread that writes.
struct Lane {
    batch: Batch,
    /// `None`: the thread is to end.
    sender: Option<SyncSender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

/// What a thread that reads needs.
struct Reader {
    source: Source,
    sender: SyncSender<Came>,
    event: Arc<OwnedFd>,
    pool: Arc<Pool>,
}

fn spawn(name: &str, place: usize, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let work = move || match give_up_capabilities() {
        Ok(()) => work(),
        Err(error) => tracing::error!(reason = %error, "a thread keeps capabilities: it does not begin"),
    };
    Builder::new().name(format!("{name}-{place}")).spawn(work)
}

impl Threads {
    /// Starts the threads. `hasher` says which queue a flow is written to, and `event` is theirs.
    ///
    /// # Errors
    /// The kernel gives no thread.
    pub(super) fn begin(queues: Vec<Queue>, hasher: FlowHasher, event: OwnedFd) -> io::Result<Self> {
        let event = Arc::new(event);
        let (sender, came) = sync_channel(WAITING * queues.len());
        let (pool, refused) = (Arc::new(Pool::default()), Arc::new(AtomicU64::new(0)));
        let mut lanes = Vec::new();
        for (place, Queue { source, sink }) in queues.into_iter().enumerate() {
            let (sender, event, own) = (sender.clone(), Arc::clone(&event), Arc::clone(&pool));
            let reader = Reader { source, sender, event, pool: own };
            spawn("tun-read", place, || reader.run())?;
            let (sender, batches) = sync_channel(WAITING);
            let (own, count) = (Arc::clone(&pool), Arc::clone(&refused));
            let thread = spawn("tun-write", place, move || write(sink, &batches, &own, &count))?;
            lanes.push(Lane { batch: pool.take(), sender: Some(sender), thread: Some(thread) });
        }
        Ok(Self { came, event, lanes, hasher, pool, refused, is_broken: false })
    }

    /// Becomes readable when something has come.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Passes on the packets that a thread has handed over.
    pub(super) fn receive(&mut self, take: impl FnMut(&mut [u8])) -> io::Result<Read> {
        match self.next()? {
            None => Ok(Read::Nothing),
            Some(Came::Unknown) => Ok(Read::Unknown),
            Some(Came::Failed(error)) => Err(error),
            Some(Came::Packets(mut batch)) => {
                batch.for_each(take);
                self.pool.put(batch);
                Ok(Read::Some)
            }
        }
    }

    /// What has come next. The event is lowered when there is nothing, and then it is looked once
    /// more: a thread hands over first, and raises the event afterwards.
    fn next(&self) -> io::Result<Option<Came>> {
        let ended = || io::Error::other(ENDED);
        if self.is_broken {
            return Err(ended());
        }
        match self.came.try_recv() {
            Ok(came) => return Ok(Some(came)),
            Err(TryRecvError::Disconnected) => return Err(ended()),
            Err(TryRecvError::Empty) => {}
        }
        // It fails if it was not raised.
        let _ = rustix::io::read(&self.event, &mut [0u8; 8]);
        match self.came.try_recv() {
            Ok(came) => Ok(Some(came)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(ended()),
        }
    }

    /// Adds a packet to those that are written together. All of a flow are written to one queue, so
    /// they keep their order. The kernel gives the flow's other direction to the same queue.
    pub(super) fn send(&mut self, packet: &[u8]) {
        let hash = Header::read(packet).map_or(0, |header| self.hasher.hash(&header, packet));
        let lane = hash as usize % self.lanes.len();
        self.lanes[lane].batch.push(packet);
        if self.lanes[lane].batch.is_full() {
            self.hand_over(lane);
        }
    }

    /// Hands all packets over. Returns how many system calls the kernel has refused since.
    pub(super) fn flush(&mut self) -> u64 {
        (0..self.lanes.len()).for_each(|lane| self.hand_over(lane));
        self.refused.swap(0, Ordering::Relaxed)
    }

    fn hand_over(&mut self, lane: usize) {
        let lane = &mut self.lanes[lane];
        if lane.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut lane.batch, self.pool.take());
        if lane.sender.as_ref().is_none_or(|sender| sender.send(batch).is_err()) {
            self.is_broken = true;
            raise(&self.event);
        }
    }
}

impl Drop for Threads {
    /// What was handed over is written.
    fn drop(&mut self) {
        for lane in &mut self.lanes {
            lane.sender = None;
            let _ = lane.thread.take().map(JoinHandle::join);
        }
    }
}

impl Reader {
    fn run(mut self) {
        while self.step().is_some() {}
    }

    /// Waits for packets, and hands over what there is. `None`: it is over.
    fn step(&mut self) -> Option<()> {
        let mut waited = [PollFd::from_borrowed_fd(self.source.fd(), PollFlags::IN)];
        match poll(&mut waited, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return self.fail(errno.into()),
        }
        let mut batch = self.pool.take();
        let read = loop {
            match self.source.receive(|packet| batch.push(packet)) {
                Ok(Read::Some) if !batch.is_full() => {}
                read => break read,
            }
        };
        if batch.is_empty() {
            self.pool.put(batch);
        } else {
            self.tell(Came::Packets(batch))?;
        }
        match read {
            Ok(Read::Some | Read::Nothing) => Some(()),
            Ok(Read::Unknown) => self.tell(Came::Unknown),
            Err(error) => self.fail(error),
        }
    }

    /// Returns `None` when the loop has ended.
    fn tell(&self, came: Came) -> Option<()> {
        self.sender.send(came).ok()?;
        raise(&self.event);
        Some(())
    }

    fn fail(&self, error: io::Error) -> Option<()> {
        self.tell(Came::Failed(error));
        None
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.fail(io::Error::other(ENDED));
    }
}

fn raise(event: &OwnedFd) {
    // It cannot be raised further than to its greatest value. Then it is up.
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

/// Writes what is handed over, until nobody can hand over any more.
fn write(mut sink: Sink, batches: &Receiver<Batch>, pool: &Pool, refused: &AtomicU64) {
    for mut batch in batches {
        batch.for_each(|packet| sink.send(packet));
        pool.put(batch);
        refused.fetch_add(sink.flush(), Ordering::Relaxed);
    }
}
