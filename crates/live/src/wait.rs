//! Waiting for what can be read or written.

use crate::clock::timespec;
use ropewalk_units::Duration;
use rustix::event::{PollFd, poll};
use rustix::io::Errno;
use std::io;

/// Waits until one of them is ready, for `most` at the longest. A signal ends it early. Returns
/// whether one is ready.
pub(crate) fn wait(fds: &mut [PollFd<'_>], most: Duration) -> io::Result<bool> {
    match poll(fds, Some(&timespec(most))) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
