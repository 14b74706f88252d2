//! Packet scripts by theme: what a connection answers to segments that a path or a peer should not have sent.

mod acceptance;
mod acks;
mod duplicates;
mod edges;
mod offers;
#[path = "../script/mod.rs"]
mod script;
mod wraps;
