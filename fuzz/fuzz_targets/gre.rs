//! See `src/gre.rs`, which the workspace's tests run over the seeds too.

#![no_main]

libfuzzer_sys::fuzz_target!(|octets: &[u8]| ropewalk_fuzz::gre::run(octets));
