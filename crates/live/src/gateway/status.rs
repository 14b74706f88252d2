//! What a daemon tells of itself: JSON over HTTP/1.0 on its Unix socket.

use serde::Deserialize;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Longer than a gateway takes to answer.
const PATIENCE: Duration = Duration::from_secs(6);

/// Declares counters that only grow as long as a session lasts.
macro_rules! counters {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
        pub(crate) struct $name { $($(#[$doc])* pub(crate) $field: u64,)* }

        impl $name {
            /// What was counted since then.
            pub(crate) fn since(self, before: Self) -> Self {
                Self { $($field: self.$field.saturating_sub(before.$field),)* }
            }

            /// Both together.
            pub(crate) fn plus(self, other: Self) -> Self {
                Self { $($field: self.$field + other.$field,)* }
            }
        }
    };
}

counters! {
    /// Of a bond, at one end.
    OfBond {
        /// Packets that came from the inside.
        offered,
        /// Their octets.
        offered_bytes,
        /// Packets that came from the other end and went to the inside.
        delivered,
        /// Their octets.
        delivered_bytes,
        /// Packets dropped while they waited for a path.
        dropped_waiting,
        /// Acknowledgements of TCP that did not leave, since later ones told all that they told.
        superseded,
        /// Copies that came.
        duplicates,
        /// Packets that came when they had been given up.
        late,
        /// Packets no longer waited for.
        given_up,
    }
}

counters! {
    /// Of a path, at one end. Octets are with all headers.
    OfPath {
        /// Sent.
        sent_packets,
        /// Their octets.
        sent_bytes,
        /// Received.
        received_packets,
        /// Their octets.
        received_bytes,
        /// Of the other end's, those that did not come.
        lost_received,
        /// Of its own, those that were lost and sent again.
        repaired,
    }
}

/// One end of a bond.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tunnel {
    #[serde(flatten)]
    pub(crate) counts: OfBond,
    /// In the order of the bond's.
    pub(crate) paths: Vec<PathStatus>,
    /// Seconds since the bond began.
    pub(crate) age_s: f64,
    /// Packets held back for order now, and the most that ever were.
    pub(crate) held_back: u64,
    pub(crate) held_back_most: u64,
    /// Mean and longest time that one was, in ms.
    pub(crate) held_back_ms: f64,
    pub(crate) held_back_most_ms: f64,
    /// Octets that a packet costs on a path beside its own.
    pub(crate) overhead: u64,
}

/// A path, as one end sees it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PathStatus {
    #[serde(flatten)]
    pub(crate) counts: OfPath,
    /// `up`, `suspected` or `down`.
    pub(crate) state: String,
    /// Smoothed round-trip time in ms.
    pub(crate) rtt_ms: Option<f64>,
    /// What a packet waits in queues on the way, in ms.
    pub(crate) queueing_ms: f64,
    /// The scheduler's weight.
    pub(crate) weight: u32,
}

#[derive(Deserialize)]
struct Report {
    peers: Vec<Peer>,
}

/// What a daemon has with another.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Peer {
    name: String,
    bond: Option<Tunnel>,
}

/// The bond with the peer of this name. `None`: there is no session.
pub(crate) fn with<'a>(peers: &'a [Peer], name: &str) -> Option<&'a Tunnel> {
    peers.iter().find(|peer| peer.name == name)?.bond.as_ref()
}

/// Asks the daemon with this socket.
///
/// # Errors
/// It does not answer, or not as this version of it does.
pub(crate) fn ask(socket: &Path) -> io::Result<Vec<Peer>> {
    let answer = exchange(socket)?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    if head.split(' ').nth(1) != Some("200") {
        return Err(io::Error::other(format!("it answers {:?}", head.lines().next().unwrap_or_default())));
    }
    read(body)
}

fn exchange(socket: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn read(body: &str) -> io::Result<Vec<Peer>> {
    let report = serde_json::from_str::<Report>(body).map_err(|error| {
        io::Error::other(format!("its status is not understood ({error}): is it of another version?"))
    })?;
    Ok(report.peers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_of_another_version_is_named_as_such() {
        let error =
            read(r#"{"peers": [{"name": "hub", "bond": {"paths": []}}]}"#).expect_err("much is missing");
        assert!(error.to_string().contains("another version"), "{error}");
        let peers = read(r#"{"peers": [{"name": "hub", "bond": null}]}"#).expect("it is right");
        assert!(peers.len() == 1 && with(&peers, "hub").is_none());
    }

    #[test]
    fn counters_have_differences_and_sums() {
        let count = |late| OfBond { late, ..OfBond::default() };
        assert_eq!(count(5).since(count(2)).plus(count(1)), count(4));
    }
}
