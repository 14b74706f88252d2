//! Whole scenarios, from the text of a file to what comes out. One test program: all files share what is compiled for it.

mod bond_ways;
mod bonds;
mod broadcasts;
mod changes;
mod clocks;
mod defaults;
mod emulated_mistakes;
mod events;
mod ipv6;
mod many_mistakes;
mod middleboxes;
mod mistakes;
mod outcome_values;
mod paced_backward;
mod path_managers;
mod reference;
mod run_up;
mod shipped;
mod shorthand;
mod support;
mod warnings;
mod wireless;
mod wireless_metrics;
mod wireless_mistakes;
