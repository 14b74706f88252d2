//! Header prediction, compared with the stages that it leaves out.

use std::fmt::Debug;

/// How many segments of a host were expected, and a check that header prediction changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prediction {
    /// Segments that were expected.
    pub expected: u64,
    /// All others.
    pub others: u64,
}

impl Prediction {
    /// A connection takes a segment by `handle`. If the segment is expected, a copy takes it by all
    /// `stages`, and has to become equal.
    ///
    /// # Panics
    /// If it does not.
    pub(crate) fn compare<C: Clone + Debug>(
        &mut self,
        connection: &mut C,
        expects: impl FnOnce(&C) -> bool,
        handle: impl FnOnce(&mut C),
        stages: impl FnOnce(&mut C),
    ) {
        if !expects(connection) {
            self.others += 1;
            return handle(connection);
        }
        self.expected += 1;
        let mut copy = connection.clone();
        handle(connection);
        stages(&mut copy);
        assert_eq!(format!("{connection:?}"), format!("{copy:?}"), "header prediction, and by all stages");
    }
}
