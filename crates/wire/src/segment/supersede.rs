//! Which acknowledgements tell nothing that a later one does not tell (RFC 3449 §5.2.1).

use super::{Flags, SackBlocks, Segment};
use crate::mptcp::{DataAck, MptcpOptions};
use ropewalk_units::Seq;

impl Segment {
    /// Does this acknowledgement tell all that an `earlier` one of the same connection and direction tells? Then a queue in which
    /// both wait may drop the earlier one.
    ///
    /// Both have no data and no flag but ACK and the same of ECN. The earlier one acknowledges less, or its SACK blocks are fewer:
    /// of acknowledgements that are alike each counts, for three of them make their sender retransmit (RFC 5681 §3.2). Nor is one
    /// superseded whose first block is a DSACK (RFC 2883 §4), or which has a rare option.
    pub fn supersedes(&self, earlier: &Self) -> bool {
        let advances = self.ack.after(earlier.ack);
        let is_later = advances || self.ack == earlier.ack && self.options.sack != earlier.options.sack;
        is_later
            && self.is_plain_ack()
            && earlier.is_plain_ack()
            && self.flags == earlier.flags
            && self.ecn == earlier.ecn
            && self.options.timestamps.is_some() == earlier.options.timestamps.is_some()
            && covers(&self.options.sack, self.ack, &earlier.options.sack, earlier.ack)
            && acknowledges_as_much(&self.options.mptcp, &earlier.options.mptcp)
    }

    /// No data, no other flag than ACK and those of ECN.
    fn is_plain_ack(&self) -> bool {
        let others = Flags::SYN | Flags::FIN | Flags::RST | Flags::URG;
        self.payload.len == 0 && self.flags.contains(Flags::ACK) && !self.flags.intersects(others)
    }
}

/// Is each `earlier` block acknowledged by `ack`, or within one of `blocks`? A DSACK never is.
fn covers(blocks: &SackBlocks, ack: Seq, earlier: &SackBlocks, earlier_ack: Seq) -> bool {
    let is_covered = |&(left, right): &(Seq, Seq)| {
        let within =
            |&(own_left, own_right): &(Seq, Seq)| own_left.before_eq(left) && right.before_eq(own_right);
        right.before_eq(ack) || blocks.as_slice().iter().any(within)
    };
    !has_dsack(earlier.as_slice(), earlier_ack) && earlier.as_slice().iter().all(is_covered)
}

/// RFC 2883 §4: the first block lies below the acknowledgement, or within the second.
fn has_dsack(blocks: &[(Seq, Seq)], ack: Seq) -> bool {
    let Some(&(left, right)) = blocks.first() else { return false };
    let in_second = |&(second_left, second_right): &(Seq, Seq)| {
        second_left.before_eq(left) && right.before_eq(second_right)
    };
    left.before(ack) || blocks.get(1).is_some_and(in_second)
}

/// RFC 8684 §3.3.2: the DATA_ACK is cumulative, too. A mapping or a rare option is said once.
fn acknowledges_as_much(own: &MptcpOptions, earlier: &MptcpOptions) -> bool {
    if own.has_rare() || earlier.has_rare() {
        return false;
    }
    match (&own.dss, &earlier.dss) {
        (None, None) => true,
        (Some(own), Some(earlier)) if own.mapping().is_none() && earlier.mapping().is_none() => {
            match (own.data_ack(), earlier.data_ack()) {
                (Some(DataAck::Long(own)), Some(DataAck::Long(earlier))) => own.get() >= earlier.get(),
                (Some(DataAck::Short(own)), Some(DataAck::Short(earlier))) => {
                    own.wrapping_sub(earlier) as i32 >= 0
                }
                _ => false,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mptcp::{Dss, Mapping, MptcpOption};
    use crate::segment::{Ecn, Payload, Timestamps};
    use proptest::prelude::*;
    use ropewalk_units::{Dsn, Ssn};

    fn ack(number: u32, blocks: &[(u32, u32)]) -> Segment {
        let mut segment = Segment { ack: Seq::new(number), flags: Flags::ACK, ..Segment::default() };
        segment.options.timestamps = Some(Timestamps::default());
        blocks.iter().for_each(|&(left, right)| segment.options.sack.push(Seq::new(left), Seq::new(right)));
        segment
    }

    #[test]
    fn what_acknowledges_more_supersedes_and_what_acknowledges_the_same_does_not() {
        assert!(ack(2000, &[]).supersedes(&ack(1000, &[])));
        assert!(!ack(1000, &[]).supersedes(&ack(2000, &[])));
        assert!(ack(500, &[]).supersedes(&ack(u32::MAX, &[])), "numbers wrap");
        // Three of these are a fast retransmit (RFC 5681 §3.2), and one may tell a new window.
        assert!(!ack(1000, &[]).supersedes(&ack(1000, &[])));
        assert!(!ack(1000, &[(3000, 4000)]).supersedes(&ack(1000, &[(3000, 4000)])));
    }

    #[test]
    fn blocks_of_the_earlier_one_are_told_by_the_later_one() {
        let earlier = ack(1000, &[(3000, 4000)]);
        assert!(ack(1000, &[(3000, 5000)]).supersedes(&earlier), "the block has grown");
        assert!(ack(1000, &[(6000, 7000), (3000, 4000)]).supersedes(&earlier), "there is another");
        assert!(ack(4000, &[]).supersedes(&earlier), "the hole is filled");
        assert!(!ack(2000, &[(6000, 7000)]).supersedes(&earlier), "the block is not told any more");
        assert!(!ack(2000, &[]).supersedes(&earlier));
    }

    #[test]
    fn a_dsack_is_told_by_no_other() {
        for blocks in [&[(500, 900)][..], &[(3000, 3500), (3000, 4000)]] {
            assert!(!ack(5000, &[]).supersedes(&ack(1000, blocks)), "{blocks:?}");
        }
        assert!(ack(1500, &[(1000, 1400)]).supersedes(&ack(1000, &[])), "the later one may have one");
    }

    #[test]
    fn only_plain_acknowledgements_with_the_same_marks_count() {
        let earlier = ack(1000, &[]);
        let later = ack(2000, &[]);
        for flag in [Flags::FIN, Flags::RST, Flags::SYN, Flags::URG, Flags::ECE, Flags::CWR] {
            let changed = |segment: &Segment| Segment { flags: segment.flags | flag, ..segment.clone() };
            assert!(!changed(&later).supersedes(&earlier), "{flag:?}");
            assert!(!later.supersedes(&changed(&earlier)), "{flag:?}");
        }
        let echo = |segment: &Segment| Segment { flags: segment.flags | Flags::ECE, ..segment.clone() };
        assert!(echo(&later).supersedes(&echo(&earlier)), "RFC 3168 §6.1.3: it is echoed until CWR comes");
        let data = |segment: &Segment| Segment { payload: Payload { offset: 0, len: 1 }, ..segment.clone() };
        assert!(!data(&later).supersedes(&earlier) && !later.supersedes(&data(&earlier)));
        assert!(!later.supersedes(&Segment { ecn: Ecn::Ce, ..earlier.clone() }));
        let mut without = later.clone();
        without.options.timestamps = None;
        assert!(!without.supersedes(&earlier));
    }

    #[test]
    fn a_data_ack_is_cumulative_and_a_mapping_is_said_once() {
        let with = |number: u32, data_ack: DataAck, mapping: Option<Mapping>| {
            let mut segment = ack(number, &[]);
            segment.options.mptcp.dss = Some(Dss::new(Some(data_ack), mapping));
            segment
        };
        let long = |number: u32, data_ack: u64| with(number, DataAck::Long(Dsn::new(data_ack)), None);
        let short = |number: u32, data_ack: u32| with(number, DataAck::Short(data_ack), None);
        assert!(
            long(2000, 7).supersedes(&long(1000, 7)) && short(2000, 3).supersedes(&short(1000, u32::MAX))
        );
        assert!(
            !long(2000, 6).supersedes(&long(1000, 7)) && !short(2000, u32::MAX).supersedes(&short(1000, 3))
        );
        assert!(!long(2000, 7).supersedes(&short(1000, 7)) && !ack(2000, &[]).supersedes(&long(1000, 7)));
        let mapping = Mapping { dsn: Dsn::new(9), ssn: Ssn::new(0), len: 1, checksum: None };
        let data_fin = with(1000, DataAck::Long(Dsn::new(7)), Some(mapping));
        assert!(!long(2000, 7).supersedes(&data_fin) && !data_fin.supersedes(&long(500, 7)));
        let mut rare = ack(1000, &[]);
        rare.options.mptcp.push(MptcpOption::Fail(Dsn::new(1)));
        assert!(!ack(2000, &[]).supersedes(&rare));
    }

    /// Segments that a receiver has, of so many; it acknowledges after each.
    struct Receiver {
        has: Vec<bool>,
        newest: Vec<usize>,
    }

    impl Receiver {
        const ORIGIN: Seq = Seq::new(u32::MAX - 5);

        fn number(place: usize) -> Seq {
            Self::ORIGIN + place as u32
        }

        /// Its acknowledgement, with the blocks of the segments that came last first (RFC 2018 §4).
        fn acknowledge(&mut self, came: usize) -> Segment {
            self.has[came] = true;
            self.newest.insert(0, came);
            let first_missing = self.has.iter().position(|has| !has).unwrap_or(self.has.len());
            let mut segment =
                Segment { ack: Self::number(first_missing), flags: Flags::ACK, ..Segment::default() };
            let mut told: Vec<(usize, usize)> = Vec::new();
            for &place in self.newest.iter().filter(|&&place| place >= first_missing) {
                let left = (0..place).rev().find(|&at| !self.has[at]).map_or(0, |at| at + 1);
                let right = (place..self.has.len()).find(|&at| !self.has[at]).unwrap_or(self.has.len());
                if told.len() < 3 && !told.contains(&(left, right)) {
                    told.push((left, right));
                    segment.options.sack.push(Self::number(left), Self::number(right));
                }
            }
            segment
        }

        /// What it has, as an acknowledgement tells.
        fn told(segment: &Segment, places: usize) -> Vec<bool> {
            let is_told = |number: Seq| {
                let blocks = segment.options.sack.as_slice();
                number.before(segment.ack)
                    || blocks.iter().any(|&(left, right)| left.before_eq(number) && number.before(right))
            };
            (0..places).map(|place| is_told(Self::number(place))).collect()
        }
    }

    proptest! {
        /// Whatever order segments come in, one that is superseded told nothing that its successor does not tell.
        #[test]
        fn nothing_that_is_told_is_lost(order in Just((0..24).collect::<Vec<usize>>()).prop_shuffle()) {
            let places = order.len();
            let mut receiver = Receiver { has: vec![false; places], newest: Vec::new() };
            let acks: Vec<Segment> = order.iter().map(|&came| receiver.acknowledge(came)).collect();
            for (at, later) in acks.iter().enumerate() {
                for earlier in acks[..at].iter().filter(|earlier| later.supersedes(earlier)) {
                    let [before, after] = [earlier, later].map(|segment| Receiver::told(segment, places));
                    prop_assert!(before.iter().zip(&after).all(|(before, after)| !before || *after));
                    prop_assert!(!earlier.supersedes(later));
                }
            }
        }
    }
}
