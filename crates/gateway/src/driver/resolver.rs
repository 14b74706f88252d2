//! Looks names up while the daemon runs. The system's resolver opens files and sockets, which the
//! daemon may not do any more. So a process of its own does it. It gets names and gives addresses,
//! and knows nothing else.

mod process;

pub use process::{LookupUser, look_names_up};

use crate::config::Line;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use nix::unistd::{User, geteuid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};

/// The longest message of either process, in octets.
const LONGEST: usize = 8192;

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The name with its port, as it was asked.
    pub(super) name: String,
    /// Its addresses, or why there are none.
    pub(super) found: Result<Vec<IpAddr>, String>,
}

/// The process that looks names up.
pub(super) struct Resolver {
    /// `None`: it has ended.
    socket: Option<OwnedFd>,
    /// Names that it has not answered yet.
    asked: BTreeSet<String>,
}

impl Resolver {
    /// Starts the process. It ends when this value is dropped.
    pub(super) fn start(user: &LookupUser, is_filtered: bool) -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let (own, its) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)?;
        rustix::io::ioctl_fionbio(&own, true)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg("look-names-up").arg("--user").arg(user.to_string());
        if !is_filtered {
            command.arg("--no-seccomp");
        }
        command.stdin(Stdio::from(its)).stdout(Stdio::null()).current_dir("/").spawn()?;
        Ok(Self { socket: Some(own), asked: BTreeSet::new() })
    }

    /// Asks for a name, if it is not being looked up already. Returns whether it is asked now.
    pub(super) fn ask(&mut self, name: &str) -> bool {
        let Some(socket) = &self.socket else { return false };
        let is_sent = !self.asked.contains(name)
            && send(socket.as_raw_fd(), name.as_bytes(), MsgFlags::MSG_NOSIGNAL).is_ok();
        is_sent && self.asked.insert(name.to_owned())
    }

    /// The next answer. `None`: there is none now. What nobody has asked for is left out.
    ///
    /// # Errors
    /// The process has ended. This is told once.
    pub(super) fn answer(&mut self) -> io::Result<Option<Answer>> {
        let Some(socket) = &self.socket else { return Ok(None) };
        let mut octets = [0; LONGEST];
        match recv(socket.as_raw_fd(), &mut octets, MsgFlags::empty()) {
            Ok(len @ 1..) => Ok(understood(&octets[..len]).filter(|answer| self.asked.remove(&answer.name))),
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => Ok(None),
            Ok(0) | Err(_) => {
                self.socket = None;
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }
}

fn understood(octets: &[u8]) -> Option<Answer> {
    serde_json::from_slice(octets).ok()
}

/// Who looks names up. As root it is a user without name, whose number is the tunnel's mark: no
/// other process has it, so its packets can be told from others.
pub(super) fn lookup_user(user: &str, mark: u32) -> LookupUser {
    let is_free = |number| User::from_uid(number).is_ok_and(|known| known.is_none());
    let can_be_number = mark != 0 && mark != u32::MAX && is_free(mark.into());
    if geteuid().is_root() && can_be_number {
        LookupUser::Number(mark)
    } else {
        LookupUser::Name(user.to_owned())
    }
}

/// The address that a path should lead to, if its name stands for these: the first that is not the
/// known one, of the same family. It is the known one if there is no other. `None`: there is none
/// of this family.
pub(super) fn address_for(known: SocketAddr, found: &[IpAddr]) -> Option<SocketAddr> {
    let mut fits = found.iter().filter(|found| found.is_ipv4() == known.is_ipv4()).peekable();
    fits.peek()?;
    let other = fits.find(|found| **found != known.ip());
    Some(SocketAddr::new(other.copied().unwrap_or(known.ip()), known.port()))
}

/// The names of paths, each once.
pub(super) fn names(lines: &[Line]) -> BTreeSet<String> {
    lines.iter().filter_map(|line| line.host.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_port_and_family_and_prefers_another_address() {
        let chosen = |known: &str, found: &[&str]| {
            let found = found.iter().map(|one| one.parse().expect("an address")).collect::<Vec<_>>();
            address_for(known.parse().expect("an address"), &found).map(|address| address.to_string())
        };
        let (v4, v6) = ("192.0.2.1:4500", "[2001:db8::1]:4500");
        assert_eq!(chosen(v4, &["2001:db8::2", "192.0.2.9"]), Some("192.0.2.9:4500".into()));
        assert_eq!(chosen(v6, &["192.0.2.9", "2001:db8::2"]), Some("[2001:db8::2]:4500".into()));
        assert_eq!(chosen(v4, &["192.0.2.1", "192.0.2.9"]), Some("192.0.2.9:4500".into()));
        assert_eq!(chosen(v4, &["192.0.2.1"]), Some(v4.into()));
        assert_eq!(chosen(v4, &["2001:db8::2"]), None);
        assert_eq!(chosen(v4, &[]), None);
    }

    #[test]
    fn what_is_no_answer_is_left_out() {
        let answer = Answer { name: "hub:1".into(), found: Ok(vec!["192.0.2.1".parse().expect("one")]) };
        let octets = serde_json::to_vec(&answer).expect("text");
        assert_eq!(understood(&octets), Some(answer));
        assert_eq!(understood(&octets[1..]), None);
        assert_eq!(understood(b"{\"name\":\"hub:1\",\"found\":{\"Ok\":[\"hub\"]}}"), None);
    }

    /// A resolver, and the process's end of its socket.
    fn with_process() -> (Resolver, OwnedFd) {
        let (own, its) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::empty()).expect("sockets");
        rustix::io::ioctl_fionbio(&own, true).expect("anyone may");
        (Resolver { socket: Some(own), asked: BTreeSet::new() }, its)
    }

    #[test]
    fn only_what_was_asked_is_taken_and_each_answer_once() {
        let (mut resolver, process) = with_process();
        let say = |name: &str| {
            let answer = Answer { name: name.into(), found: Err("unknown".into()) };
            let octets = serde_json::to_vec(&answer).expect("text");
            send(process.as_raw_fd(), &octets, MsgFlags::empty()).expect("it is there");
        };
        assert!(resolver.ask("hub:1") && !resolver.ask("hub:1"), "it is being looked up");
        say("evil:1");
        assert_eq!(resolver.answer().expect("it lives"), None);
        say("hub:1");
        assert!(resolver.answer().expect("it lives").is_some_and(|answer| answer.name == "hub:1"));
        say("hub:1");
        assert_eq!(resolver.answer().expect("it lives"), None);
        assert_eq!(resolver.answer().expect("it lives"), None, "nothing is there");
        assert!(resolver.ask("hub:1"), "it may be asked again");
    }

    #[test]
    fn a_process_that_has_ended_is_told_once_and_asked_nothing() {
        let (mut resolver, process) = with_process();
        drop(process);
        assert!(resolver.answer().is_err());
        assert_eq!(resolver.answer().expect("it was told"), None);
        assert!(!resolver.ask("hub:1") && resolver.fd().is_none());
    }
}
