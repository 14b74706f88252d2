//! One gateway for each mark. Rules and routes are found by their mark, so a second gateway would
//! remove those of the first.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Nobody else in this network namespace has the mark for as long as this lives. The kernel takes
/// it back when the process ends, however that is.
pub(super) struct MarkLock {
    /// Bound to a name of the mark, in the abstract namespace.
    _socket: UnixDatagram,
}

impl MarkLock {
    pub(super) fn take(mark: u32) -> io::Result<Self> {
        let name = SocketAddr::from_abstract_name(format!("ropewalk-gateway/mark/{mark:#x}"))?;
        match UnixDatagram::bind_addr(&name) {
            Ok(socket) => Ok(Self { _socket: socket }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(io::Error::new(
                error.kind(),
                format!("another gateway with the mark {mark:#x} runs here: each needs a `mark` of its own"),
            )),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_one_owner_at_a_time() {
        // Other tests and gateways use lower ones.
        let mark = 0xf000_0000 | std::process::id();
        let own = MarkLock::take(mark).expect("it is free");
        let error = MarkLock::take(mark).map(drop).expect_err("it is taken");
        assert!(error.to_string().contains("runs here"), "{error}");
        drop(own);
        MarkLock::take(mark).map(drop).expect("it is free again");
    }
}
