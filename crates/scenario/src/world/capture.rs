//! Captures: what passes each link and each host, and what is on the air, as pcapng files that Wireshark reads.

mod air;

use super::addresses;
use super::packet::{Body, Packet, Socket};
use crate::plan::wifi::BroadcastPort;
use crate::plan::{NodeIndex, NodeKind, Plan};
use air::AirCapture;
use ropewalk_sim::{DropReason, LinkId, Tap};
use ropewalk_units::Instant;
use ropewalk_wifi::Sniffed;
use ropewalk_wire::pcapng::{InterfaceId, Writer};
use ropewalk_wire::{Datagram, Ecn, EmitError, PacketHeader};
use std::borrow::Cow;
use std::collections::BTreeMap;
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
    fn create(folder: &Path, name: &str, snap_length: u32) -> io::Result<Self> {
        let path = folder.join(format!("{name}.pcapng"));
        let file = BufWriter::new(File::create(partial(&path))?);
        let mut writer = Writer::new(file, concat!("ropewalk ", env!("CARGO_PKG_VERSION")))?;
        writer.set_snap_length(snap_length);
        Ok(Self { path, writer })
    }

    /// Its path as long as it is incomplete.
    fn partial(&self) -> PathBuf {
        partial(&self.path)
    }
}

fn partial(path: &Path) -> PathBuf {
    path.with_extension("pcapng.partial")
}

/// What captures keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice<'a> {
    /// Of these links alone, and of no host; everything if there are none.
    pub(super) links: &'a [String],
    /// Octets of each packet; 0: all.
    pub(super) snap_length: u32,
}

/// A capture, by index, and one of its interfaces.
type Place = (usize, InterfaceId);

/// A packet that is to be written.
#[derive(Debug)]
struct Record {
    at: Instant,
    place: Place,
    octets: Vec<u8>,
    comment: Cow<'static, str>,
    /// In the sender's file: from where to where.
    flow: Option<(Socket, Socket)>,
}

/// Words about what happened at a host. They go with the next packet that it sends on this flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Comment {
    pub(super) at: Instant,
    /// Index of the host in the plan.
    pub(super) host: NodeIndex,
    /// From where to where.
    pub(super) flow: (Socket, Socket),
    pub(super) text: String,
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
    /// Unless links are chosen.
    air: Option<AirCapture>,
    /// By link id.
    directions: Vec<Direction>,
    addresses: Vec<IpAddr>,
    /// Heard since the last pause: links tell of their packets late, each in its own order.
    pending: Vec<Record>,
    /// By node of the plan: a host's file.
    host_files: Vec<Option<usize>>,
    /// Those whose packet has not come yet.
    comments: Vec<Comment>,
    identification: u16,
    error: Option<io::Error>,
}

impl CaptureTap {
    /// Opens all files in `folder`.
    pub(crate) fn create(
        plan: &Plan,
        ports: &[BroadcastPort],
        folder: &Path,
        choice: Choice<'_>,
    ) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let Choice { links, snap_length } = choice;
        let mut captures = Vec::new();
        let mut host_file = Vec::new();
        for node in &plan.nodes {
            let is_captured = node.kind == NodeKind::Host && links.is_empty();
            host_file.push(is_captured.then_some(captures.len()));
            if is_captured {
                captures.push(Capture::create(folder, &format!("host-{}", node.name), snap_length)?);
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
            let is_captured = links.is_empty() || links.contains(&link.name);
            let file = is_captured.then_some(captures.len());
            if is_captured {
                captures.push(Capture::create(folder, &format!("link-{}", link.name), snap_length)?);
            }
            for direction in 0..2 {
                let name = |end: usize| plan.nodes[link.ends[end]].name.as_str();
                let label = format!("{}->{}", name(direction), name(1 - direction));
                let place =
                    |file: usize| io::Result::Ok((file, captures[file].writer.add_interface(&label, "")?));
                directions.push(Direction {
                    link: file.map(place).transpose()?,
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
        let wifi = plan.wifi.as_ref().filter(|_| links.is_empty());
        let air = wifi.map(|wifi| AirCapture::create(wifi, folder, snap_length)).transpose()?;
        let addresses = addresses::all(plan);
        Ok(Self {
            captures,
            air,
            directions,
            addresses,
            pending: Vec::new(),
            host_files: host_file,
            comments: Vec::new(),
            identification: 0,
            error: None,
        })
    }

    /// Completes all files and gives them their names.
    pub(crate) fn finish(mut self) -> io::Result<Vec<PathBuf>> {
        self.write_pending();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut paths = Vec::new();
        let air = self.air.take().into_iter().flat_map(AirCapture::into_captures);
        for capture in std::mem::take(&mut self.captures).into_iter().chain(air) {
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

    fn record(&mut self, at: Instant, place: Place, octets: Vec<u8>, flow: Option<(Socket, Socket)>) {
        self.pending.push(Record { at, place, octets, comment: Cow::Borrowed(""), flow });
    }

    /// Puts these comments, and those that wait, beside the packets that they go with.
    pub(super) fn comment(&mut self, new: Vec<Comment>) {
        self.comments.extend(new);
        if self.comments.is_empty() {
            return;
        }
        self.pending.sort_by_key(|record| record.at);
        let mut flows: BTreeMap<(usize, (Socket, Socket)), Vec<usize>> = BTreeMap::new();
        for (index, record) in self.pending.iter().enumerate() {
            if let Some(flow) = record.flow {
                flows.entry((record.place.0, flow)).or_default().push(index);
            }
        }
        let Self { comments, pending, host_files, .. } = self;
        comments.retain(|comment| {
            let Some(file) = host_files[comment.host] else { return false };
            let records = flows.get(&(file, comment.flow)).map_or(&[][..], Vec::as_slice);
            let first = records.partition_point(|&index| pending[index].at < comment.at);
            let Some(&index) = records.get(first) else { return true };
            let said = pending[index].comment.to_mut();
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(&comment.text);
            false
        });
    }

    /// Is what is on the air wanted?
    pub(super) fn has_air(&self) -> bool {
        self.air.is_some()
    }

    /// These frames have begun since the last call.
    pub(super) fn write_air(&mut self, frames: Vec<Sniffed>) {
        if let Some(air) = &mut self.air
            && let Err(error) = air.write(frames)
        {
            self.error.get_or_insert(error);
        }
    }

    /// Writes what was heard, in order of time.
    pub(crate) fn write_pending(&mut self) {
        // Stable: what happened at one time stays in the order in which the tap heard of it.
        self.pending.sort_by_key(|record| record.at);
        for record in self.pending.drain(..) {
            let (file, interface) = record.place;
            let writer = &mut self.captures[file].writer;
            if let Err(error) = writer.packet(interface, record.at, &record.octets, &record.comment) {
                self.error.get_or_insert(error);
            }
        }
    }
}

/// A capture that was not finished leaves nothing behind.
impl Drop for CaptureTap {
    fn drop(&mut self) {
        let air = self.air.iter().flat_map(AirCapture::partial_paths);
        for path in self.captures.iter().map(Capture::partial).chain(air) {
            let _ = std::fs::remove_file(path);
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
        let octets = self.emit(packet);
        if let Some(place) = direction.sender {
            self.record(now, place, octets.clone(), Some((packet.source, packet.destination)));
        }
        if let Some(place) = direction.link {
            self.record(now, place, octets, None);
        }
    }

    fn aired(&mut self, _: Instant, packet: &Packet) {
        if self.error.is_some() || self.air.is_none() {
            return;
        }
        let octets = self.emit(packet);
        if let Some(air) = &mut self.air {
            air.air(octets);
        }
    }

    fn delivered(&mut self, now: Instant, link: LinkId, packet: &Packet) {
        if self.error.is_some() {
            return;
        }
        if let Some(place) = self.directions[link.0 as usize].receiver {
            let octets = self.emit(packet);
            self.record(now, place, octets, None);
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
            let comment = Cow::Borrowed("dropped by the queue");
            self.pending.push(Record { at: now, place, octets, comment, flow: None });
        }
    }

    fn marked(&mut self, _: Instant, _: LinkId, _: &Packet) {
        // The mark stands in the packet's own header when it is written.
    }
}
