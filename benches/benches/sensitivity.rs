//! How much a bond's results hang on what its model has from no publication: `cargo bench -p ropewalk-benches`. The table stands in
//! `docs/models/bonding.md`.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // Tests of all targets run this, too, and want no table.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let gates = Command::new(env!("CARGO_BIN_EXE_gates")).args(["--quick", "--sensitivity"]).status();
    let is_good = gates.expect("it is built with this").success();
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
