//! See `src/gateway_session.rs`, which the workspace's tests run over the seeds too.

#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| ropewalk_fuzz::gateway_session::run(octets));
