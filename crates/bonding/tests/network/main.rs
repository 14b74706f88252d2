//! Two endpoints over a small deterministic network.

mod acknowledgements;
mod apps;
mod bars;
mod clocks;
mod failures;
mod net;
mod properties;
mod repairs;
mod starts;
mod wrr;
