//! Two connections and the paths between them, in a few lines: the simulator proper is another crate.

mod captures;
mod network;
mod properties;
mod transfers;
