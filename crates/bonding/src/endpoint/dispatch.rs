//! What the ingress hands out.

use crate::clock::micros;
use crate::header::{DataHeader, Transmission};
use crate::id::{FlowSeq, GlobalSeq, MAX_PATHS, PathId, PathSeq, PathSet};
use ropewalk_units::Instant;

/// Where copies of one packet go, each with the header to put before it, and when. Empty when the packet is to be dropped: every
/// path is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// What the copies have in common.
    common: DataHeader,
    paths: PathSet,
    path_seqs: [PathSeq; MAX_PATHS],
    departures: [Instant; MAX_PATHS],
}

impl Dispatch {
    pub(super) fn new(common: DataHeader) -> Self {
        Self {
            common,
            paths: PathSet::EMPTY,
            path_seqs: [PathSeq::new(0); MAX_PATHS],
            departures: [Instant::ZERO; MAX_PATHS],
        }
    }

    #[inline]
    pub(super) fn number(&mut self, seq: FlowSeq) {
        self.common.flow_seq = seq;
    }

    /// The packet may have to be sent again.
    #[inline]
    pub(super) fn keep(&mut self) {
        self.common.transmission = Transmission::First;
    }

    #[inline]
    pub(super) fn flow_seq(&self) -> FlowSeq {
        self.common.flow_seq
    }

    /// The packet's number in the bond, if the driver is to keep the packet for a while: [`crate::Endpoint::poll_repair`] may ask for it.
    #[inline]
    pub fn kept_as(&self) -> Option<GlobalSeq> {
        (self.common.transmission == Transmission::First).then_some(self.common.global_seq)
    }

    #[inline]
    pub(super) fn set_solo(&mut self, solo: u8) {
        self.common.solo = solo;
    }

    #[inline]
    pub(super) fn push(&mut self, path: PathId, seq: PathSeq, departure: Instant) {
        self.paths.insert(path);
        self.path_seqs[path.index()] = seq;
        self.departures[path.index()] = departure;
    }

    /// How many copies.
    pub fn len(&self) -> usize {
        self.paths.iter().count()
    }

    /// When the driver is to send the copy on `path`: at once, or later if that path's buffer has no room yet. Copies on one path
    /// never overtake each other.
    #[inline]
    pub fn departure(&self, path: PathId) -> Instant {
        self.departures[path.index()]
    }

    /// Is there no path to send it on?
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The copies: path and header.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (PathId, DataHeader)> + '_ {
        let header = |path: PathId| DataHeader {
            path,
            path_seq: self.path_seqs[path.index()],
            timestamp: micros(self.departures[path.index()]),
            ..self.common
        };
        self.paths.iter().map(move |path| (path, header(path)))
    }
}
