//! Namespaces with the simulator's links between them, for another program: a scenario's Linux
//! hosts, until the standard input ends or the scenario is over. The names of its namespaces are
//! `ropewalk-PROCESS-0-HOST`.

use ropewalk_scenario::{RunOptions, load};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("usage: ropewalk-links SCENARIO.toml");
        return ExitCode::from(2);
    };
    let file = Path::new(&file);
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            return ExitCode::FAILURE;
        }
    };
    match hold(file, &text) {
        Ok(()) | Err(ropewalk_live::RunError::Interrupted { .. }) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn hold(file: &Path, text: &str) -> Result<(), ropewalk_live::RunError> {
    let scenario = load(text, Some(file), &[])?;
    let stop = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&stop);
    std::thread::spawn(move || {
        // The program that started this one holds the other end. It closes at the latest when that
        // program ends.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.store(true, Ordering::Relaxed);
    });
    let options = RunOptions { stop: Some(&stop), ..RunOptions::default() };
    ropewalk_live::run(&scenario, &options).map(drop)
}
