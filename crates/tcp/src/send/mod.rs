//! The sending half's data: what waits, and what is on its way.

pub(crate) mod queue;
pub(crate) mod stream;

pub(crate) use queue::{Delivery, SentQueue};
pub(crate) use stream::SendStream;
