//! The receiving side: numbers and what is missing of them, copies, and order.

pub(crate) mod incoming;
pub(crate) mod replay;
pub(crate) mod resequencer;
