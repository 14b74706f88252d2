//! How what was read from a kernel enters a link.

use super::packet::Octets;
use ropewalk_sim::{Context, Port};

/// The packet in the context's place enters the link, or is kept with those that are `early`.
pub(super) fn enter(context: &mut Context<'_, Octets>, port: Port, early: Option<&mut Vec<Octets>>) {
    match early {
        Some(early) => early.extend(context.place().take()),
        None => context.send_placed(port),
    }
}
