//! The network seen from outside: throughput, collisions and fairness against models, and worlds of
//! random stations.

mod common;
mod exchanges;
mod fading;
mod hidden;
mod models;
mod properties;
mod rules;
mod saturation;
mod spectrum;
