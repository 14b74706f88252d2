//! Packet scripts by theme: what a connection answers to segments that a path or a peer should not have sent, and
//! what a sender does at the edges of its rules.

mod acceptance;
mod acks;
mod bbr;
mod deferral;
mod duplicates;
mod edges;
mod offers;
#[path = "../script/mod.rs"]
mod script;
mod sending;
mod undoing;
mod wraps;
