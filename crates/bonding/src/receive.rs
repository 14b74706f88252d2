//! What comes over the paths: numbers and what is missing of them, copies, order.

pub(crate) mod incoming;
pub(crate) mod replay;
pub(crate) mod resequencer;
