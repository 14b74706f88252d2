//! Processors that stay awake while a run lasts. One that sleeps comes back late, by a part of a millisecond. A virtual one is
//! given away meanwhile, and comes back later still. Then packets come out of the links late, though nothing else runs.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// A bound that is written to it holds as long as the file is open (Linux `admin-guide/pm/cpuidle.rst`, "Power Management Quality of
/// Service for CPUs").
pub(crate) const DEVICE: &str = "/dev/cpu_dma_latency";
/// The latest that a processor may wake up, in µs: none sleeps then, each waits in a loop.
const AT_ONCE: i32 = 0;

/// Holds them awake until it is dropped.
pub(crate) struct Wakeful {
    _bound: Option<File>,
}

impl Wakeful {
    /// Keeps them awake. Where the kernel has no such bound, or refuses it, the run goes on, and its lateness tells of it.
    pub(crate) fn hold() -> Self {
        Self { _bound: bound().ok() }
    }
}

/// Why processors cannot be kept awake, if they cannot.
pub(crate) fn obstacle() -> Option<String> {
    let opened = OpenOptions::new().write(true).open(DEVICE);
    opened.err().map(|error| error.to_string())
}

fn bound() -> io::Result<File> {
    let mut device = OpenOptions::new().write(true).open(DEVICE)?;
    device.write_all(&AT_ONCE.to_ne_bytes())?;
    Ok(device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn the_bound_holds_until_it_is_dropped() {
        if let Some(reason) = obstacle() {
            println!("skipped: {DEVICE}: {reason}");
            return;
        }
        // Reading tells the least bound of all programs.
        let least = || {
            let mut octets = [0; 4];
            let mut device = File::open(DEVICE).expect("root reads it too");
            device.read_exact(&mut octets).expect("it has four octets");
            i32::from_ne_bytes(octets)
        };
        let before = least();
        let awake = Wakeful::hold();
        assert_eq!(least(), AT_ONCE);
        drop(awake);
        assert!(before == AT_ONCE || least() > AT_ONCE, "{before} {}", least());
    }
}
