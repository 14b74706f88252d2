//! Tunnels of other programs, each over one line: one that only copies, and wireguard-go.

use crate::wireguard::{self, Side};
use ropewalk_gateway::demo::{Process, inside, program};
use ropewalk_gateway::key::SecretKey;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Namespaces of the hub and of the site, and the line's address in each.
pub(crate) struct Line {
    pub(crate) namespaces: [PathBuf; 2],
    pub(crate) addresses: [String; 2],
}

impl Line {
    fn ports(&self) -> [String; 2] {
        self.addresses.each_ref().map(|address| format!("{address}:5000"))
    }
}

/// Starts the processes of both ends, the hub's first, and waits until they work.
pub(crate) type Start = fn(&Line) -> io::Result<[Process; 2]>;

pub(crate) fn copier(line: &Line) -> io::Result<[Process; 2]> {
    let [hub, site] = line.ports();
    let start = |host: usize, arguments: [&str; 4]| {
        let spawn = || Command::new(program("copier")).args(arguments).spawn();
        inside(&line.namespaces[host], spawn).map(Process)
    };
    let ends = [start(0, ["copy0", "10.9.0.1", &hub, &site])?, start(1, ["copy0", "10.9.0.2", &site, &hub])?];
    thread::sleep(Duration::from_secs(1));
    Ok(ends)
}

/// It has to be there.
pub(crate) fn wireguard(line: &Line) -> io::Result<[Process; 2]> {
    let program = wireguard::program().ok_or_else(|| io::Error::other("there is no wireguard-go"))?;
    let secrets = [SecretKey([0x48; 32]), SecretKey([0x50; 32])];
    let outer = line.ports();
    let side = |host: usize, interface, inner| Side {
        namespace: &line.namespaces[host],
        interface,
        secret: &secrets[host],
        inner,
        outer: &outer[host],
    };
    let (hub, site) = (side(0, "wghub", "10.9.0.1/24"), side(1, "wgsite", "10.9.0.2/24"));
    let ends = [wireguard::start(program, &hub, &site)?, wireguard::start(program, &site, &hub)?];
    thread::sleep(Duration::from_secs(1));
    Ok(ends)
}
