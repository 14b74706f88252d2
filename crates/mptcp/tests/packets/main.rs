//! Packet scripts: what a connection sends, and on which subflow, for what it receives. One file per theme.

mod script;

mod addresses;
mod agreement;
mod attacks;
mod close;
mod coupled;
mod data;
mod edges;
mod endpoint_rules;
mod endpoints;
mod ends;
mod fallback;
mod handshake;
mod held;
mod identifiers;
mod idle_reinjection;
mod joins;
mod opening;
mod order;
mod plain;
mod prediction;
mod receiving;
mod relief;
mod resets;
mod schedule;
mod silence;
mod subflows;
mod timers;
mod transitions;
