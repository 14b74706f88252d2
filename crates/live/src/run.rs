//! A scenario with Linux hosts, from nothing to its outcome, and back to nothing.

use crate::application::{Opened, Progress};
use crate::board::Board;
use crate::clock::Clock;
use crate::collect;
use crate::command;
use crate::error::{Error, Step};
use crate::lease::{self, Lease};
use crate::links::{Host, Links, OwnHost, Place};
use crate::machine::Machine;
use crate::observer::{Ending, Observed, Observer};
use crate::refuse;
use crate::settings::links_of;
use crate::site::Site;
use crate::urgency::{self, Urgency};
use ropewalk_scenario::plan::{NodeIndex, NodeKind, Plan};
use ropewalk_scenario::{CommandRow, Outcome, Provenance, RunOptions, Scenario, ScenarioError, link_rows};
use ropewalk_sim::Streams;
use ropewalk_units::{Duration, Instant};
use std::io;
use std::net::IpAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// So long before time zero everything is there.
const AHEAD: Duration = Duration::from_millis(20);

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
    if !scenario.plan().settings.events.is_empty() {
        let message = "kernels tell of no events";
        return Err(scenario
            .mistake("scenario.events", message, "no `events`, or hosts of ropewalk's stack")
            .into());
    }
    let plan = scenario.plan();
    let failed = |step| move |source| Error::Kernel { step, source };
    lease::clean().map_err(failed(Step::Clean))?;
    let lease = Lease::acquire().map_err(failed(Step::Lock))?;
    let mut site = Site::new(plan, &settings, lease.name())?;
    let seed = options.seed.unwrap_or(scenario.seed());
    let opened = Opened::new(plan, &site, seed)?;
    let never = AtomicBool::new(false);
    let stop = options.stop.unwrap_or(&never);
    let Emulated { mut links, observed, progress, commands } =
        emulate(plan, &mut site, opened, (seed, options.series), stop).map_err(failed(Step::Links))?;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted { at: links.now() });
    }
    let connections = collect::connections(plan, &progress, &observed);
    Ok(Outcome {
        provenance: Provenance { scenario: scenario.name().to_owned(), scenario_hash: scenario.hash(), seed },
        duration: plan.settings.duration,
        subflows: collect::subflows(plan, &connections, &observed),
        links: link_rows(plan, links.stats()),
        sockets: collect::sockets(plan, &observed.others),
        commands,
        series: observed.series,
        bonds: Vec::new(),
        bond_series: Vec::new(),
        link_series: Vec::new(),
        happenings: Vec::new(),
        radios: Vec::new(),
        hops: Vec::new(),
        broadcasts: Vec::new(),
        frames: Vec::new(),
        routes: Vec::new(),
        route_changes: Vec::new(),
        events: links.events(),
        lateness: links.lateness().row(),
        connections,
    })
}

/// What is left when time is over.
struct Emulated {
    links: Links,
    observed: Observed,
    progress: Vec<Arc<Progress>>,
    commands: Vec<CommandRow>,
}

/// Lets applications, programs, links and the observer go, until the scenario's end or until somebody stops them.
fn emulate(
    plan: &Plan,
    site: &mut Site,
    mut opened: Opened,
    (seed, series): (u64, bool),
    stop: &AtomicBool,
) -> io::Result<Emulated> {
    let progress = opened.progress();
    let (diags, mut interfaces) = (std::mem::take(&mut site.diags), std::mem::take(&mut site.interfaces));
    let groups = command::groups(plan);
    let clock = Clock::starting_in(AHEAD);
    let board = Arc::new(Board::default());
    let nodes = plan.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Host);
    let hosts = nodes.map(|(index, _)| match interfaces.remove(&index) {
        Some(interfaces) => Place::Host(Host::new(clock, interfaces)),
        None => {
            let ends = opened.take_own(index);
            Place::Own(Box::new(OwnHost::new(
                own_identity(plan, index, seed),
                ends,
                Arc::clone(&board),
                clock,
            )))
        }
    });
    let mut links = Links::new(plan, seed, clock, hosts.collect::<Vec<_>>());
    let over = &AtomicBool::new(false);
    let applications = opened.begin(clock);
    let observer =
        Observer { plan, diags, board, progress: progress.clone(), clock, series, groups: &groups };
    let end = Instant::ZERO + plan.settings.duration;
    let (observed, commands) = thread::scope(|scope| {
        let observer = scope.spawn(|| observer.watch(over));
        let changes = std::mem::take(&mut site.changes).into_values();
        let changes =
            changes.map(|changes| scope.spawn(move || changes.make(clock, over))).collect::<Vec<_>>();
        let programs = command::programs(plan, &site.namespaces, &groups);
        let programs =
            programs.map(|program| scope.spawn(move || program.run(clock, over))).collect::<Vec<_>>();
        let ending = Ending(over);
        let carried = scope.spawn(|| carry(&mut links, end, stop)).join();
        drop(ending);
        let observed = observer.join().unwrap_or_else(|panic| resume_unwind(panic));
        let ended =
            programs.into_iter().map(|program| program.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let commands = ended.collect();
        let mut changed =
            changes.into_iter().map(|changes| changes.join().unwrap_or_else(|panic| resume_unwind(panic)));
        changed.try_for_each(|result| result)?;
        carried.unwrap_or_else(|panic| resume_unwind(panic)).map(|()| (observed, commands))
    })?;
    drop(applications);
    Ok(Emulated { links, observed, progress, commands })
}

/// The addresses of a host of ours, and its secret: the same ones with each run of a seed.
fn own_identity(plan: &Plan, node: NodeIndex, seed: u64) -> (Vec<IpAddr>, [u64; 4]) {
    let mut stream = Streams::new(seed).stream(&format!("{}/identity", plan.nodes[node].name));
    let addresses = links_of(plan, node).map(|(_, link, end)| link.addresses[end]).collect();
    (addresses, std::array::from_fn(|_| stream.next_u64()))
}

/// Carries packets, on a thread of its own: what it is allowed beyond others goes with it.
fn carry(links: &mut Links, end: Instant, stop: &AtomicBool) -> io::Result<()> {
    urgency::apply(Urgency::Links);
    links.run(end, stop)
}
