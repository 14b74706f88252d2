//! From the LAN to the paths.

use super::{Dispatch, Endpoint};
use crate::clock::micros;
use crate::event::Event;
use crate::flow::{Class, FlowKey};
use crate::header::{DataHeader, Transmission};
use crate::id::{FlowSeq, PathId, PathSeq, PathSet};
use crate::outgoing::{Kept, Outgoing};
use crate::scheduler::{Ask, Scheduler};
use ropewalk_units::Instant;

/// Packets of the bond that went on one path alone, up to now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SoloRun {
    path: PathSet,
    packets: u32,
}

impl SoloRun {
    /// The header's `solo` of a packet that goes on `paths`.
    #[inline]
    pub(super) fn note(&mut self, paths: PathSet) -> u8 {
        if paths != self.path || !paths.is_single() {
            *self = Self { path: paths, packets: 0 };
        }
        self.packets += 1;
        // The packets before this one, plus one, in bits.
        self.packets = self.packets.min(1 << 15);
        self.packets.ilog2() as u8
    }
}

impl<P> Endpoint<P> {
    /// A packet of `len` octets from the LAN side. Ingress holds no packet: the driver sends one copy for each entry, when
    /// [`Dispatch::departure`] says.
    #[inline]
    pub fn ingress(&mut self, now: Instant, len: u32, flow: FlowKey) -> Dispatch {
        self.now = now;
        let bucket = (flow.hash & (self.config.resequencer.flow_buckets - 1)) as u16;
        let mut dispatch = Dispatch::new(DataHeader {
            path: PathId(0),
            class: flow.class,
            transmission: Transmission::Only,
            solo: 0,
            bucket,
            flow_seq: FlowSeq::new(0),
            global_seq: self.next_global,
            path_seq: PathSeq::new(0),
            timestamp: micros(now),
        });
        let wire_len = len + self.config.overhead;
        let chosen = self.choose(&Ask { now, wire_len, bucket, usable: self.usable }, flow);
        if chosen.is_empty() {
            self.events.push(Event::Full);
            return dispatch;
        }
        let number = self.next_global;
        self.next_global = number.next();
        if flow.class.is_ordered() {
            let seq = &mut self.flow_seqs[usize::from(bucket)];
            dispatch.number(*seq);
            *seq = seq.next();
        }
        dispatch.set_solo(self.run.note(chosen));
        let is_kept = self.config.repair && flow.class == Class::Normal && chosen.is_single();
        if is_kept {
            dispatch.keep();
        }
        for path in &mut self.outgoing {
            let is_chosen = chosen.contains(path.id);
            path.note_share(is_chosen);
            if is_chosen {
                let (seq, departure) = path.on_sent(now, wire_len, number);
                dispatch.push(path.id, seq, departure);
                if is_kept {
                    path.keep(seq, Kept { global: number, flow_seq: dispatch.flow_seq(), bucket });
                }
            }
        }
        dispatch
    }

    #[inline]
    fn choose(&mut self, ask: &Ask, flow: FlowKey) -> PathSet {
        if flow.class.is_duplicated() {
            self.with_room(ask)
        } else {
            self.scheduler.pick(ask, &self.outgoing)
        }
    }

    /// All usable paths before which not too much waits already: copies must not pile up there.
    fn with_room(&self, ask: &Ask) -> PathSet {
        let has_room = |path: &Outgoing| !path.is_overfull(ask.now, path.length());
        ask.usable.filter(|id| has_room(&self.outgoing[id.index()]))
    }
}
