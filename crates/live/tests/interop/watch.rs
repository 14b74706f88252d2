//! Looks at each packet that our host sends: does it carry the octets of the stream that its
//! mapping names? Then an octet that the kernel's application sees in a wrong place was put there
//! by the kernel.

use ropewalk_units::Dsn;
use ropewalk_wire::read::{IpPacket, TcpPacket};
use ropewalk_wire::{Flags, Mapping};
use std::collections::{BTreeMap, HashMap};

/// Of longer streams only the beginning is compared.
const MOST: usize = 64 << 20;

/// A subflow's mappings: by their first subflow octet, the data octet and the length.
type Mappings = BTreeMap<u32, (u64, u32)>;

pub(crate) struct Watch {
    /// What we send.
    stream: Vec<u8>,
    /// DSN of the stream's first octet.
    first: Option<Dsn>,
    /// By the ports of both sides.
    subflows: HashMap<(u16, u16), Mappings>,
    /// What is wrong with what we sent.
    wrong: Option<String>,
}

impl Watch {
    pub(crate) fn new(mut stream: crate::kernel::Noise) -> Self {
        Self { stream: stream.next(MOST), first: None, subflows: HashMap::new(), wrong: None }
    }

    /// Why what we sent was wrong, if it was; `Ok` means that every mapping named the octets that
    /// it came with.
    pub(crate) fn verdict(&self) -> Result<(), String> {
        self.wrong.clone().map_or(Ok(()), Err)
    }

    /// A packet of ours leaves.
    pub(crate) fn look(&mut self, packet: &[u8]) {
        let Ok(ip) = IpPacket::read(packet) else { return self.complain("a packet that cannot be read") };
        let Ok(tcp) = TcpPacket::read(&ip) else { return self.complain("a segment that cannot be read") };
        let ports = (tcp.header.source_port, tcp.header.destination_port);
        if tcp.header.flags.contains(Flags::SYN) {
            self.subflows.entry(ports).or_default();
            return;
        }
        let dss = tcp.segment(self.first.unwrap_or_default()).options.mptcp.dss;
        let Some(mapping) = dss.and_then(|dss| dss.mapping()) else { return };
        // An infinite mapping has no length (RFC 8684 §3.7): what follows is TCP's.
        if !tcp.payload.is_empty() && mapping.len > 0 {
            self.compare(ports, &mapping, tcp.payload);
        }
    }

    fn compare(&mut self, ports: (u16, u16), mapping: &Mapping, payload: &[u8]) {
        // Before there is a second subflow, the first one carries the stream from its first octet
        // on.
        let ssn = mapping.ssn.get();
        let first = *self.first.get_or_insert(Dsn::new(mapping.dsn.get().wrapping_sub(u64::from(ssn - 1))));
        let offset = mapping.dsn.get().wrapping_sub(first.get());
        let from = (offset as usize).min(self.stream.len());
        let expected = &self.stream[from..(from + payload.len()).min(self.stream.len())];
        if payload[..expected.len().min(payload.len())] != *expected {
            self.complain(&format!("other octets than those at {offset} of the stream"));
        }
        let len = payload.len() as u32;
        let mappings = self.subflows.entry(ports).or_default();
        let same = |(other, (data, _)): (&u32, &(u64, u32))| {
            data.wrapping_sub(u64::from(*other)) == offset.wrapping_sub(u64::from(ssn))
        };
        let before = mappings.range(..=ssn).next_back().filter(|(other, (_, len))| *other + len > ssn);
        let agrees = before.is_none_or(same) && mappings.range(ssn..ssn + len).all(same);
        mappings.insert(ssn, (offset, len));
        if !agrees {
            self.complain(&format!("a second mapping for subflow octet {ssn}"));
        }
    }

    fn complain(&mut self, why: &str) {
        self.wrong.get_or_insert_with(|| why.to_owned());
    }
}
