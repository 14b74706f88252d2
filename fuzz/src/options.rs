//! Options that a header has room for take the octets that their length says, and are read as they were written.

use super::source::Octets;
use ropewalk_adversary::{Knowledge, Numbers, Target, segment};
use ropewalk_units::Dsn;
use ropewalk_wire::Options;

/// Draws segments, writes their options and reads them.
pub fn run(octets: &[u8]) {
    let mut source = Octets::new(octets);
    let target = Target { knowledge: Knowledge::default(), numbers: Numbers::Blind, multipath: true };
    while !source.is_empty() {
        let options = segment(&mut source, &target).options;
        let mut written = Vec::new();
        options.emit(&mut written);
        assert_eq!(written.len() as u32, options.wire_len(), "{options:?}");
        assert!(written.len() as u32 <= Options::SPACE, "{options:?}");
        assert_eq!(Options::read(&written, Dsn::new(0)), options);
    }
}
