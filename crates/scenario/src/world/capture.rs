//! Captures: what passes each link and each host, as pcapng files that Wireshark reads.

use super::addresses;
use super::packet::{Body, Packet};
use crate::plan::wifi::BroadcastPort;
use crate::plan::{NodeKind, Plan};
use ropewalk_sim::{DropReason, LinkId, Tap};
use ropewalk_units::Instant;
use ropewalk_wire::pcapng::{InterfaceId, Writer};
use ropewalk_wire::{Datagram, Ecn, EmitError, PacketHeader};
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// One file under construction.
#[derive(Debug)]
struct Capture {
    path: PathBuf,
    writer: Writer<BufWriter<File>>,
}

impl Capture {
    fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(format!("{name}.pcapng"));
        let file = BufWriter::new(File::create(partial(&path))?);
        Ok(Self { path, writer: Writer::new(file, concat!("ropewalk ", env!("CARGO_PKG_VERSION")))? })
    }
}

fn partial(path: &Path) -> PathBuf {
    path.with_extension("pcapng.partial")
}

/// A capture, by index, and one of its interfaces.
type Place = (usize, InterfaceId);

/// A packet that is to be written.
#[derive(Debug)]
struct Record {
    at: Instant,
    place: Place,
    octets: Vec<u8>,
    comment: &'static str,
}

/// Where packets of one link direction are written.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// File and interface of the link's own capture; a broadcast has none.
    link: Option<Place>,
    /// Those of the sending host's, unless it is a router.
    sender: Option<Place>,
    /// Those of the receiving host's.
    receiver: Option<Place>,
}

/// A tap that writes one file per host (an interface per link) and one per link (an interface per direction).
#[derive(Debug)]
pub(crate) struct CaptureTap {
    captures: Vec<Capture>,
    /// By link id.
    directions: Vec<Direction>,
    addresses: Vec<IpAddr>,
    /// Heard since the last pause: links tell of their packets late, each in its own order.
    pending: Vec<Record>,
    identification: u16,
    error: Option<io::Error>,
}

impl CaptureTap {
    /// Opens all files in `folder`.
    pub(crate) fn create(plan: &Plan, ports: &[BroadcastPort], folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut captures = Vec::new();
        let mut host_file = Vec::new();
        for node in &plan.nodes {
            host_file.push((node.kind == NodeKind::Host).then_some(captures.len()));
            if node.kind == NodeKind::Host {
                captures.push(Capture::create(folder, &format!("host-{}", node.name))?);
            }
        }
        let mut directions = Vec::new();
        for link in plan.links.iter().filter(|link| link.bond().is_none()) {
            let mut host_interface = [None; 2];
            for (end, slot) in host_interface.iter_mut().enumerate() {
                if let Some(file) = host_file[link.ends[end]] {
                    let address = link.addresses[end].to_string();
                    *slot = Some((file, captures[file].writer.add_interface(&link.name, &address)?));
                }
            }
            let file = captures.len();
            captures.push(Capture::create(folder, &format!("link-{}", link.name))?);
            for direction in 0..2 {
                let name = |end: usize| plan.nodes[link.ends[end]].name.as_str();
                let label = format!("{}->{}", name(direction), name(1 - direction));
                let interface = captures[file].writer.add_interface(&label, "")?;
                directions.push(Direction {
                    link: Some((file, interface)),
                    sender: host_interface[direction],
                    receiver: host_interface[1 - direction],
                });
            }
        }
        for port in ports {
            let node = plan.nodes.iter().position(|node| node.name == port.name);
            let place = match node.and_then(|node| host_file[node]) {
                Some(file) => {
                    let label = format!("broadcasts on channel {}", port.channel);
                    Some((file, captures[file].writer.add_interface(&label, "")?))
                }
                None => None,
            };
            directions.push(Direction { link: None, sender: place, receiver: place });
        }
        let addresses = addresses::all(plan);
        Ok(Self { captures, directions, addresses, pending: Vec::new(), identification: 0, error: None })
    }

    /// Completes all files and gives them their names.
    pub(crate) fn finish(mut self) -> io::Result<Vec<PathBuf>> {
        self.write_pending();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut paths = Vec::new();
        for capture in std::mem::take(&mut self.captures) {
            let file = capture.writer.finish()?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            std::fs::rename(partial(&capture.path), &capture.path)?;
            paths.push(capture.path);
        }
        Ok(paths)
    }

    /// The packet's octets; the same number identifies it on its whole way over one link.
    fn emit(&mut self, packet: &Packet) -> Vec<u8> {
        let mut octets = Vec::new();
        self.identification = self.identification.wrapping_add(1);
        if let Err(error) = self.emit_into(packet, &mut octets) {
            self.error.get_or_insert_with(|| io::Error::other(error.to_string()));
        }
        octets
    }

    fn emit_into(&self, packet: &Packet, octets: &mut Vec<u8>) -> Result<(), EmitError> {
        let ip = |address: crate::plan::AddressIndex| self.addresses[address.0];
        let header = PacketHeader {
            source: ip(packet.source.address()),
            destination: ip(packet.destination.address()),
            source_port: packet.source.port(),
            destination_port: packet.destination.port(),
            identification: self.identification,
            ttl: packet.ttl,
            dscp: packet.dscp,
        };
        match &packet.body {
            Body::Tcp(segment) => header.emit_segment(segment, octets),
            Body::Udp(datagram) => {
                let datagram = Datagram { payload: datagram.payload, ..Datagram::default() };
                header.emit_datagram(&datagram, octets)
            }
            Body::Bonded(bonded) => {
                let mut inner = bonded.header.encode().to_vec();
                self.emit_into(&bonded.inner, &mut inner)?;
                header.emit_tunnelled(&inner, packet.ecn(), octets)
            }
            Body::BondControl(control) => {
                let mut inner = Vec::new();
                control.encode(&mut inner);
                header.emit_tunnelled(&inner, Ecn::NotEct, octets)
            }
        }
    }

    fn record(&mut self, at: Instant, place: Place, octets: Vec<u8>, comment: &'static str) {
        self.pending.push(Record { at, place, octets, comment });
    }

    /// Writes what was heard, in order of time.
    pub(crate) fn write_pending(&mut self) {
        // Stable: what happened at one time stays in the order in which the tap heard of it.
        self.pending.sort_by_key(|record| record.at);
        for record in self.pending.drain(..) {
            let (file, interface) = record.place;
            let writer = &mut self.captures[file].writer;
            if let Err(error) = writer.packet(interface, record.at, &record.octets, record.comment) {
                self.error.get_or_insert(error);
            }
        }
    }
}

/// A capture that was not finished leaves nothing behind.
impl Drop for CaptureTap {
    fn drop(&mut self) {
        for capture in &self.captures {
            let _ = std::fs::remove_file(partial(&capture.path));
        }
    }
}

impl Tap<Packet> for CaptureTap {
    const ACTIVE: bool = true;

    fn transmitted(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        if self.error.is_some() {
            return;
        }
        let direction = self.directions[link.0 as usize];
        let places = direction.sender.into_iter().chain(direction.link);
        let octets = self.emit(packet);
        for place in places {
            self.record(now, place, octets.clone(), "");
        }
    }

    fn delivered(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        if self.error.is_some() {
            return;
        }
        if let Some(place) = self.directions[link.0 as usize].receiver {
            let octets = self.emit(packet);
            self.record(now, place, octets, "");
        }
    }

    fn dropped(&mut self, now: Instant, link: LinkId, packet: &Packet, reason: DropReason) {
        if self.error.is_some() {
            return;
        }
        // A packet that the queue dropped never was on the link; one lost on the medium has been written.
        if matches!(reason, DropReason::QueueFull | DropReason::Aqm)
            && let Some(place) = self.directions[link.0 as usize].sender
        {
            let octets = self.emit(packet);
            self.record(now, place, octets, "dropped by the queue");
        }
    }

    fn marked(&mut self, _: Instant, _: LinkId, _: &Packet) {
        // The mark stands in the packet's own header when it is written.
    }
}
