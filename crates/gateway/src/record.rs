//! A record of a run: all that a site or a hub was told, and digests of what it answered. A replay
//! has to give the same octets.

mod lines;
mod replay;
mod scenario;
mod traffic;
mod way;

pub use replay::{Replayed, Unreplayable, replay, replay_to_scenario};
pub use scenario::RecordedScenario;

use crate::bond::{Entropy, Way};
use crate::config::Names;
use blake2::{Blake2s256, Digest};
use ropewalk_units::Instant;
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;
use way::way_octets;

/// What a record begins with: its name and version.
const MAGIC: [u8; 8] = *b"ropegw\x00\x02";
/// Octets of a digest that are kept.
const DIGEST: usize = 16;

/// The kinds of entries of a record. An entry is its kind (1 octet), the time in ns (8), the length
/// (4) and the octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Kind {
    /// The key of the hash that names flows.
    FlowKey = 1,
    /// Random octets that were drawn.
    Drawn = 2,
    /// A packet of the inside.
    Packet = 3,
    /// A datagram: socket (2), port (2), address (16), octets.
    Datagram = 4,
    /// A call of `handle_timeout`.
    Timeout = 5,
    /// The digest of all datagrams that were sent until there were none.
    Sent = 6,
    /// The digest of all packets that were delivered until there were none.
    Delivered = 7,
    /// A change of paths, as JSON.
    Change = 8,
    /// The process ends.
    End = 9,
    /// What an earlier process has spent of quotas, and how long ago it was noted, as JSON.
    Spent = 10,
    /// What names stood for, as JSON.
    Names = 11,
    /// What names stood for later, as JSON: pairs of a path's socket and an address.
    Found = 12,
    /// Other keys of a site's path at the hub's end, as JSON.
    SiteChange = 13,
}

impl Kind {
    const ALL: [Self; 13] = [
        Self::FlowKey,
        Self::Drawn,
        Self::Packet,
        Self::Datagram,
        Self::Timeout,
        Self::Sent,
        Self::Delivered,
        Self::Change,
        Self::End,
        Self::Spent,
        Self::Names,
        Self::Found,
        Self::SiteChange,
    ];

    fn read(octet: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == octet)
    }
}

/// A digest of what came out until there was nothing more.
#[derive(Default)]
struct Tally {
    digest: Blake2s256,
    count: u64,
}

impl Tally {
    fn add(&mut self, octets: &[u8]) {
        self.digest.update((octets.len() as u32).to_be_bytes());
        self.digest.update(octets);
        self.count += 1;
    }

    /// The digest of all since the last call. `None`: there was nothing.
    fn take(&mut self) -> Option<[u8; DIGEST]> {
        if std::mem::take(&mut self.count) == 0 {
            return None;
        }
        let whole = self.digest.finalize_reset();
        whole.first_chunk().copied()
    }
}

/// A record that is being written.
pub struct Recorder {
    out: BufWriter<File>,
    failed: Option<io::Error>,
    sent: Tally,
    delivered: Tally,
    now: Instant,
}

/// A recorder that is shared with the source of random octets.
pub type Shared = Rc<RefCell<Recorder>>;

impl Recorder {
    /// Begins a record in a new file of mode 600, since it holds what was drawn for keys.
    ///
    /// # Errors
    /// The file cannot be made, or exists.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let mut recorder = Self {
            out: BufWriter::new(file),
            failed: None,
            sent: Tally::default(),
            delivered: Tally::default(),
            now: Instant::ZERO,
        };
        recorder.out.write_all(&MAGIC)?;
        Ok(recorder)
    }

    /// Notes the beginning of the run.
    pub(crate) fn begin(&mut self, now: Instant, flow_key: [u64; 2], names: &Names) {
        let key = flow_key.map(u64::to_be_bytes).concat();
        self.note(Kind::FlowKey, now, &[&key]);
        if !names.is_empty() {
            let names = serde_json::to_vec(names).expect("names and addresses are text");
            self.note(Kind::Names, now, &[&names]);
        }
    }

    fn note(&mut self, kind: Kind, now: Instant, parts: &[&[u8]]) {
        if self.failed.is_some() {
            return;
        }
        self.now = now;
        if let Err(error) = self.write(kind, now, parts) {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: io::Error) {
        tracing::warn!(reason = %error, "the record ends here");
        self.failed = Some(error);
    }

    /// Writes what waits in the buffer.
    fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.out.flush()
        {
            self.fail(error);
        }
    }

    fn write(&mut self, kind: Kind, now: Instant, parts: &[&[u8]]) -> io::Result<()> {
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        self.out.write_all(&[kind as u8])?;
        self.out.write_all(&now.as_nanos().to_be_bytes())?;
        self.out.write_all(&(len as u32).to_be_bytes())?;
        parts.iter().try_for_each(|part| self.out.write_all(part))
    }

    pub(crate) fn packet(&mut self, now: Instant, octets: &[u8]) {
        self.note(Kind::Packet, now, &[octets]);
    }

    pub(crate) fn datagram(&mut self, now: Instant, way: Way, octets: &[u8]) {
        self.note(Kind::Datagram, now, &[&way_octets(way), octets]);
    }

    pub(crate) fn timeout(&mut self, now: Instant) {
        self.note(Kind::Timeout, now, &[]);
    }

    pub(crate) fn change(&mut self, now: Instant, json: &str) {
        self.note(Kind::Change, now, &[json.as_bytes()]);
    }

    pub(crate) fn site_change(&mut self, now: Instant, json: &str) {
        self.note(Kind::SiteChange, now, &[json.as_bytes()]);
    }

    pub(crate) fn found(&mut self, now: Instant, found: &[(usize, SocketAddr)]) {
        let found = serde_json::to_vec(found).expect("numbers and addresses are text");
        self.note(Kind::Found, now, &[&found]);
    }

    pub(crate) fn spent(&mut self, now: Instant, json: &str) {
        self.note(Kind::Spent, now, &[json.as_bytes()]);
    }

    /// Notes the end of the process.
    pub(crate) fn end(&mut self, now: Instant) {
        self.note(Kind::End, now, &[]);
    }

    /// Notes a datagram that was made. `None`: there are no more.
    pub(crate) fn sent(&mut self, now: Instant, made: Option<(Way, &[u8])>) {
        match made {
            Some((way, octets)) => {
                self.sent.add(&way_octets(way));
                self.sent.add(octets);
            }
            None => {
                let digest = self.sent.take();
                self.note(Kind::Sent, now, &[&digest.unwrap_or_default()]);
            }
        }
    }

    /// Notes a packet that came out. `None`: there are no more.
    pub(crate) fn delivered(&mut self, now: Instant, packet: Option<&[u8]>) {
        match packet {
            Some(octets) => self.delivered.add(octets),
            None => {
                let digest = self.delivered.take();
                self.note(Kind::Delivered, now, &[&digest.unwrap_or_default()]);
            }
        }
    }
}

/// The farewell comes behind the entry of the end, so the last octets are written here. The buffer
/// by itself would not tell an error.
impl Drop for Recorder {
    fn drop(&mut self) {
        self.flush();
    }
}

/// A source of random octets that notes what it gives in the record.
pub fn noted(recorder: Shared, mut entropy: Entropy) -> Entropy {
    Box::new(move |octets| {
        entropy(octets);
        let mut recorder = recorder.borrow_mut();
        let now = recorder.now;
        recorder.note(Kind::Drawn, now, &[octets]);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn an_error_of_the_last_octets_is_told() {
        for (device, is_told) in [("/dev/null", false), ("/dev/full", true)] {
            let log = tempfile::NamedTempFile::new().expect("a file");
            let writer = Arc::new(log.reopen().expect("it is there"));
            let logs = tracing_subscriber::fmt().with_writer(writer).finish();
            tracing::subscriber::with_default(logs, || {
                let out = OpenOptions::new().write(true).open(device).expect("a device");
                let mut recorder = Recorder {
                    out: BufWriter::new(out),
                    failed: None,
                    sent: Tally::default(),
                    delivered: Tally::default(),
                    now: Instant::ZERO,
                };
                recorder.end(Instant::ZERO);
                assert!(recorder.failed.is_none(), "it waits in the buffer");
            });
            let said = std::fs::read_to_string(log.path()).expect("it is there");
            assert_eq!(said.contains("the record ends here"), is_told, "{device}: {said}");
        }
    }
}
