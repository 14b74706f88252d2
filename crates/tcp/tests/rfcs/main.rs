//! Packet scripts for the rules that `specs/` lists, one file per theme.

#[path = "../script/mod.rs"]
mod script;

mod acknowledging;
mod closing;
mod giving_up;
mod opening;
mod rack;
mod sending;
mod windows;
