//! What the fuzz targets do. The workspace's own tests include these files and run them over the seeds, on a stable
//! compiler, so that they stay alive without a fuzzer.

pub mod gateway;
pub mod gateway_session;
pub mod gre;
pub mod mptcp;
pub mod options;
pub mod packets;
mod source;
pub mod tcp;
