//! A scenario with Linux hosts, from nothing to its outcome, and back to nothing.

use crate::application::{Opened, Progress};
use crate::clock::Clock;
use crate::collect;
use crate::error::{Error, Step};
use crate::lease::{self, Lease};
use crate::links::{Host, Links};
use crate::machine::Machine;
use crate::observer::{Ending, Observed, Observer};
use crate::refuse;
use crate::site::Site;
use ropewalk_scenario::plan::Plan;
use ropewalk_scenario::{Outcome, Provenance, RunOptions, Scenario, ScenarioError, link_rows};
use ropewalk_units::Instant;
use rustix::process::setpriority_process;
use rustix::thread::set_current_timer_slack;
use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The links go before what else the machine has to do, applications among it.
const PRIORITY: i32 = -15;

/// Can this machine run it? Looks, and makes nothing.
///
/// # Errors
/// What is missing, and what mends it.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    refuse::check(scenario, &Machine::look()).map(drop)
}

/// Runs a scenario whose hosts are Linux's: in real time, by root.
///
/// # Errors
/// [`Error`]. Whatever happens, what it has made is gone when it returns.
pub fn run(scenario: &Scenario, options: &RunOptions<'_>) -> Result<Outcome, Error> {
    let settings = refuse::check(scenario, &Machine::look())?;
    if options.capture.is_some() {
        let key = "scenario.name";
        let message = "the links between Linux hosts write no captures yet";
        return Err(scenario.mistake(key, message, "no captures; tcpdump runs in the namespaces").into());
    }
    let plan = scenario.plan();
    let failed = |step| move |source| Error::Kernel { step, source };
    lease::clean().map_err(failed(Step::Clean))?;
    let lease = Lease::take().map_err(failed(Step::Lock))?;
    let mut site = Site::new(plan, &settings, lease.name())?;
    let seed = options.seed.unwrap_or(scenario.seed());
    let opened = Opened::new(plan, &site, seed)?;
    let never = AtomicBool::new(false);
    let stop = options.stop.unwrap_or(&never);
    let (mut links, observed, progress) =
        emulate(plan, &mut site, opened, (seed, options.series), stop).map_err(failed(Step::Links))?;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted { at: links.now() });
    }
    let connections = collect::connections(plan, &progress);
    Ok(Outcome {
        provenance: Provenance { scenario: scenario.name().to_owned(), scenario_hash: scenario.hash(), seed },
        duration: plan.settings.duration,
        subflows: collect::subflows(plan, &connections, &observed),
        links: link_rows(plan, links.stats()),
        series: observed.series,
        bonds: Vec::new(),
        bond_series: Vec::new(),
        radios: Vec::new(),
        broadcasts: Vec::new(),
        routes: Vec::new(),
        route_changes: Vec::new(),
        events: links.events(),
        lateness: links.lateness().row(),
        connections,
    })
}

/// Lets applications, links and the observer go, until the scenario's end or until somebody stops them.
fn emulate(
    plan: &Plan,
    site: &mut Site,
    opened: Opened,
    (seed, series): (u64, bool),
    stop: &AtomicBool,
) -> io::Result<(Links, Observed, Vec<Arc<Progress>>)> {
    let progress = opened.progress();
    let (diags, interfaces) = (std::mem::take(&mut site.diags), std::mem::take(&mut site.interfaces));
    let clock = Clock::new();
    let hosts = interfaces.into_values().map(|interfaces| Host::new(clock, interfaces));
    let mut links = Links::new(plan, seed, clock, hosts);
    let over = AtomicBool::new(false);
    let applications = opened.begin(clock);
    let observer = Observer { plan, diags, progress: progress.clone(), clock, series };
    let end = Instant::ZERO + plan.settings.duration;
    let observed = thread::scope(|scope| {
        let observer = scope.spawn(|| observer.watch(&over));
        let ending = Ending(&over);
        let carried = scope.spawn(|| carry(&mut links, end, stop)).join();
        drop(ending);
        let observed = observer.join().unwrap_or_else(|panic| resume_unwind(panic));
        carried.unwrap_or_else(|panic| resume_unwind(panic)).map(|()| observed)
    })?;
    drop(applications);
    Ok((links, observed, progress))
}

/// Carries packets, on a thread of its own: what it is allowed beyond others goes with it.
fn carry(links: &mut Links, end: Instant, stop: &AtomicBool) -> io::Result<()> {
    // Both make it more punctual; without them it is as late as it says.
    let _ = setpriority_process(None, PRIORITY);
    let _ = set_current_timer_slack(NonZero::new(1));
    links.run(end, stop)
}
