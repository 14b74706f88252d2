//! What goes over the paths: the header before every packet, and what the gateways tell each other.

pub(crate) mod control;
pub(crate) mod header;
