//! Tells when interfaces come or go, or their addresses change.

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR of <linux/rtnetlink.h>.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;

/// A socket on which the kernel tells changes.
pub(super) struct Watch(Socket);

impl Watch {
    /// Watches the network namespace of this thread.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, GROUPS))?;
        socket.set_non_blocking(true)?;
        Ok(Self(socket))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Reads and drops all messages. The caller looks at interfaces and addresses itself.
    pub(super) fn drain(&self) {
        let mut buffer = Vec::with_capacity(8192);
        loop {
            buffer.clear();
            match self.0.recv(&mut buffer, 0) {
                Ok(_) => {}
                // Some messages were lost. That does not matter, since none is used.
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error()) => {}
                Err(_) => return,
            }
        }
    }
}
