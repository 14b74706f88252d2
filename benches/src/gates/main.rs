//! Judges bonds on random cases, each beside every line alone through a bare tunnel.
//!
//! `gates` runs the first drawing, `gates second` the one that nobody tunes on. What has run is kept, and is not run again while the
//! sources it depends on stay: a stopped run goes on where it was. It prints a table for `docs/models/bonding.md`, and every case that
//! misses a bar. It ends with 1 if one does.

mod case;
mod draw;
mod families;
mod measure;
mod scene;
mod sensitivity;
mod store;
mod table;
mod work;

use case::Scale;
use clap::Parser;
use draw::Drawing;
use families::Setting;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is run.
#[derive(Parser, Debug)]
#[command(
    name = "gates",
    about = "Judges bonds on random cases, each beside every line alone through a bare tunnel"
)]
struct Options {
    /// Which cases: the first drawing is for work, the others judge it
    #[arg(value_enum, default_value_t = Drawing::First)]
    drawing: Drawing,
    /// A few short cases of each gate
    #[arg(long)]
    quick: bool,
    /// These gates alone, by the beginning of their names
    #[arg(long = "gate", value_name = "NAME")]
    gates: Vec<String>,
    /// The first so many cases of each gate; with --quick, so many short ones
    #[arg(long, value_name = "CASES")]
    count: Option<usize>,
    /// These cases of each gate alone, by their numbers
    #[arg(long = "case", value_name = "NUMBER", conflicts_with = "count")]
    cases: Vec<usize>,
    /// The bonds' scheduler, where a gate has none of its own
    #[arg(long, default_value = "rate-aware")]
    scheduler: String,
    /// Where records are kept
    #[arg(long, value_name = "FILE", default_value = "target/gates.jsonl")]
    store: PathBuf,
    /// A folder of recorded lines; without it their gate is left out
    #[arg(long, value_name = "FOLDER", env = "ROPEWALK_TRACES")]
    traces: Option<PathBuf>,
    /// Runs at once (default: as many as there are cores)
    #[arg(long)]
    workers: Option<usize>,
    /// Prints each case's scenarios and runs nothing
    #[arg(long)]
    show: bool,
    /// Prints what comes of each value that is from no publication, halved and doubled, on a few cases, and keeps nothing
    #[arg(long)]
    sensitivity: bool,
    /// Prints what each bond counted, and keeps nothing
    #[arg(long)]
    detail: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let setting = Setting {
        drawing: options.drawing,
        scale: if options.quick { Scale::Quick } else { Scale::Whole },
        scheduler: &options.scheduler,
        count: options.count,
        traces: options.traces.as_deref(),
    };
    let mut cases = families::all(&setting);
    cases.retain(|case| {
        let is_asked =
            options.gates.is_empty() || options.gates.iter().any(|gate| case.gate.starts_with(gate.as_str()));
        is_asked && (options.cases.is_empty() || options.cases.contains(&case.number))
    });
    if cases.is_empty() {
        eprintln!("no gate begins with {}, or none has such a case", options.gates.join(" or "));
        return ExitCode::from(2);
    }
    if options.show {
        cases.iter().for_each(show);
        return ExitCode::SUCCESS;
    }
    if options.sensitivity {
        cases.retain(|case| case.number == 0 && sensitivity::GATES.contains(&case.gate));
        sensitivity::print(&cases);
        return ExitCode::SUCCESS;
    }
    if options.detail {
        cases.iter().for_each(detail);
        return ExitCode::SUCCESS;
    }
    if options.traces.is_none() {
        eprintln!(
            "the gate \"recorded\" is left out: --traces or ROPEWALK_TRACES names no folder of recorded lines"
        );
    }
    match work::records(&cases, &options.store, options.workers) {
        Ok(records) => {
            let is_kept = table::print(&cases, &records);
            if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{}: {error}", options.store.display());
            ExitCode::from(2)
        }
    }
}

fn detail(case: &case::Case) {
    println!("# {}/{}: {}", case.gate, case.number, case.what);
    case.runs.iter().filter(|run| !run.is_bare).for_each(|run| println!("{}", measure::detail(&run.text)));
}

fn show(case: &case::Case) {
    println!("# {}/{}: {}", case.gate, case.number, case.what);
    case.runs.iter().for_each(|run| println!("{}", run.text));
}
