//! Packet scripts for the rules that `specs/` lists, one file per theme.

#[path = "../script/mod.rs"]
mod script;

mod acknowledging;
mod behind_recovery;
mod closing;
mod congestion;
mod dctcp;
mod ecn;
mod giving_up;
mod judging;
mod opening;
mod path_mtu;
mod rack;
mod sack;
mod sending;
mod timeouts;
mod timestamps;
mod windows;
mod without_sack;
