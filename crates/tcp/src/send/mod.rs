//! The sending half's data: what waits, what is on its way, and what limits it.

pub(crate) mod buffer;
pub(crate) mod fin;
pub(crate) mod pace;
pub(crate) mod peer_window;
pub(crate) mod queue;
pub(crate) mod stream;
pub(crate) mod timeouts;
pub(crate) mod usage;

pub(crate) use buffer::SendBuffer;
pub(crate) use fin::Fin;
pub(crate) use pace::{Pace, Path};
pub(crate) use peer_window::PeerWindow;
pub(crate) use queue::{Delivery, Keeps, Overdue, SentQueue};
pub(crate) use stream::SendStream;
pub(crate) use timeouts::Timeouts;
pub(crate) use usage::{Room, Usage};
