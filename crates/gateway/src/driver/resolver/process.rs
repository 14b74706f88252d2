//! The process that looks names up.

use super::super::confine::{become_number, become_user, lock_to_lookups};
use super::super::filter::{Seccomp, filter_lookups};
use super::{Answer, LONGEST};
use crate::config::ask_system;
use nix::sys::signal::Signal;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;

/// The most addresses of a name that are told.
const MOST: usize = 64;

/// Who the process becomes, if root starts it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LookupUser {
    /// A user without a name.
    Number(u32),
    /// A user of this machine.
    Name(String),
}

impl fmt::Display for LookupUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl FromStr for LookupUser {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number))
    }
}

/// Gives up all privileges, then answers on standard input, a socket of messages: each is a name
/// with its port. Returns when the daemon has ended.
///
/// # Errors
/// The kernel refuses something.
pub fn look_names_up(user: &LookupUser, seccomp: Seccomp) -> io::Result<()> {
    confine(user, seccomp)?;
    let socket = io::stdin();
    let mut octets = [0; LONGEST];
    loop {
        let len = match rustix::io::read(&socket, &mut octets) {
            Ok(0) => return Ok(()),
            Ok(len) => len,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        if let Ok(name) = std::str::from_utf8(&octets[..len]) {
            let answer = serde_json::to_vec(&answer(name)).expect("text and addresses are text");
            rustix::io::write(&socket, &answer)?;
        }
    }
}

fn answer(name: &str) -> Answer {
    let found = ask_system(name).map_err(|error| error.to_string());
    let found = found.map(|all| all.iter().map(SocketAddr::ip).take(MOST).collect());
    Answer { name: name.to_owned(), found }
}

fn confine(user: &LookupUser, seccomp: Seccomp) -> io::Result<()> {
    lock_to_lookups(|| match user {
        LookupUser::Number(number) => become_number(*number),
        LookupUser::Name(name) => become_user(name),
    })?;
    // Who becomes another user loses this, so it comes here.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    filter_lookups(seccomp);
    Ok(())
}
