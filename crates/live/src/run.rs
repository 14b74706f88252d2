//! A scenario with Linux hosts, from nothing to its outcome, and back to nothing.

use crate::application::{Opened, Progress};
use crate::board::Board;
use crate::clock::Clock;
use crate::collect;
use crate::command;
use crate::error::{Error, Step};
use crate::gateway::Bonds;
use crate::interface::Interface;
use crate::lease::{self, Lease};
use crate::links::{Host, Links, OwnHost, Place, Takes, is_at_edge};
use crate::machine::Machine;
use crate::observer::{Ending, Observed, Observer};
use crate::processor::Share;
use crate::refuse;
use crate::settings::links_of;
use crate::site::Site;
use crate::urgency::{self, Urgency};
use crate::wakeful::Wakeful;
use ropewalk_scenario::plan::{Carrier, NodeIndex, NodePlan, Plan};
use ropewalk_scenario::{
    BondRow, BondSeriesRow, CommandRow, Outcome, ProcessRow, Provenance, RunOptions, Scenario, ScenarioError,
    link_rows,
};
use ropewalk_sim::Streams;
use ropewalk_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Everything is ready this long before time zero.
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
    let machine = Machine::look();
    let settings = refuse::check(scenario, &machine)?;
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
    let _awake = Wakeful::hold();
    let mut site = Site::new(plan, &settings, lease.name())?;
    let seed = options.seed.unwrap_or(scenario.seed());
    let mut bonds = Bonds::start(plan, &site, &lease, machine.gateway.as_deref())?;
    let opened = Opened::new(plan, &site, seed)?;
    let never = AtomicBool::new(false);
    let stop = options.stop.unwrap_or(&never);
    let run_up = run_up(plan, &site, &mut bonds, (seed, stop))?;
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Interrupted { at: Instant::ZERO });
    }
    let stage = Stage { run_up, opened, bonds: &mut bonds, seed, series: options.series };
    let Emulated { mut links, observed, progress, commands, bonds: told, processes } =
        emulate(plan, &mut site, stage, stop).map_err(failed(Step::Links))?;
    let (bonds, bond_series) = told?;
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
        processes,
        series: observed.series,
        mptcp_series: observed.mptcp_series,
        bonds,
        bond_series,
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
    bonds: Result<(Vec<BondRow>, Vec<BondSeriesRow>), Error>,
    processes: Vec<ProcessRow>,
}

/// What is there when time is about to begin.
struct Stage<'a, 'b> {
    /// The links with which the bonds came up, if there are bonds.
    run_up: Option<Links>,
    opened: Opened,
    bonds: &'a mut Bonds<'b>,
    seed: u64,
    /// Are series wanted?
    series: bool,
}

/// What is at the edge of the links, in the order of the nodes.
fn places(
    plan: &Plan,
    interfaces: &mut BTreeMap<NodeIndex, Vec<Interface>>,
    clock: Clock,
    mut own: impl FnMut(NodeIndex) -> OwnHost,
) -> Vec<Place> {
    let nodes = plan.nodes.iter().enumerate().filter(|(_, node)| is_at_edge(node));
    let place = |(index, node): (NodeIndex, &NodePlan)| match interfaces.remove(&index) {
        Some(interfaces) => {
            let takes = if node.is_gateway() { Takes::All } else { Takes::Own };
            Place::Host(Host::new(clock, interfaces, takes))
        }
        None => Place::Own(Box::new(own(index))),
    };
    nodes.map(place).collect()
}

/// The time before the scenario in which its bonds come up, over its lines as they are at the
/// beginning, and without its traffic. None without bonds.
fn run_up(
    plan: &Plan,
    site: &Site,
    bonds: &mut Bonds<'_>,
    (seed, stop): (u64, &AtomicBool),
) -> Result<Option<Links>, Error> {
    if bonds.is_empty() {
        return Ok(None);
    }
    let mut early = plan.clone();
    for link in &mut early.links {
        if let Carrier::Wire(wire) = &mut link.carrier {
            wire.changes.retain(|change| change.at == Instant::ZERO);
        }
    }
    let clock = Clock::new();
    let own = |_| unreachable!("checked: all hosts beside gateways are Linux's");
    let places = places(plan, &mut site.interfaces.clone(), clock, own);
    let seed = Streams::new(seed).stream("run-up").next_u64();
    let mut links = Links::new(&early, seed, clock, places);
    let over = &AtomicBool::new(false);
    let came = thread::scope(|scope| {
        let carried = scope.spawn(|| carry(&mut links, Instant::MAX, over));
        let ending = Ending(over);
        let came = bonds.come_up(clock, stop);
        drop(ending);
        let carried = carried.join().unwrap_or_else(|panic| resume_unwind(panic));
        came.and_then(|_| carried.map_err(|source| Error::Kernel { step: Step::Links, source }))
    });
    came?;
    bonds.begin()?;
    Ok(Some(links))
}

/// Lets applications, programs, links and the observer go, until the scenario's end or until
/// somebody stops them.
fn emulate(plan: &Plan, site: &mut Site, stage: Stage<'_, '_>, stop: &AtomicBool) -> io::Result<Emulated> {
    let Stage { run_up, mut opened, bonds, seed, series } = stage;
    let progress = opened.progress();
    let (diags, mut interfaces) = (std::mem::take(&mut site.diags), std::mem::take(&mut site.interfaces));
    let groups = command::groups(plan);
    let clock = Clock::starting_in(AHEAD);
    let board = Arc::new(Board::default());
    let own = |index| {
        let ends = opened.take_own(index);
        OwnHost::new(own_identity(plan, index, seed), ends, Arc::clone(&board), clock)
    };
    let mut links = Links::new(plan, seed, clock, places(plan, &mut interfaces, clock, own));
    if let Some(mut run_up) = run_up {
        links.move_on(&mut run_up);
    }
    let over = &AtomicBool::new(false);
    let mut applications = opened.begin(clock);
    let observer =
        Observer { plan, diags, board, progress: progress.clone(), clock, series, groups: &groups };
    let end = Instant::ZERO + plan.settings.duration;
    let (observed, commands, told, carrier) = thread::scope(|scope| {
        let observer = scope.spawn(|| observer.watch(over));
        let told = scope.spawn(|| bonds.watch(clock, series, over));
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
        let told = told.join().unwrap_or_else(|panic| resume_unwind(panic));
        let ended =
            programs.into_iter().map(|program| program.join().unwrap_or_else(|panic| resume_unwind(panic)));
        let commands = ended.collect();
        let mut changed =
            changes.into_iter().map(|changes| changes.join().unwrap_or_else(|panic| resume_unwind(panic)));
        changed.try_for_each(|result| result)?;
        let carrier = carried.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok::<_, io::Error>((observed, commands, told, carrier))
    })?;
    let processes = processes(carrier, applications.end(), bonds.shares());
    Ok(Emulated { links, observed, progress, commands, bonds: told, processes })
}

/// The addresses of a host of ours, and its secret: the same ones with each run of a seed.
fn own_identity(plan: &Plan, node: NodeIndex, seed: u64) -> (Vec<IpAddr>, [u64; 4]) {
    let mut stream = Streams::new(seed).stream(&format!("{}/identity", plan.nodes[node].name));
    let addresses = links_of(plan, node).map(|(_, link, end)| link.addresses[end]).collect();
    (addresses, std::array::from_fn(|_| stream.next_u64()))
}

/// Carries packets, and returns the processor time that it took. It runs on a thread of its own,
/// whose priority it raises.
fn carry(links: &mut Links, end: Instant, stop: &AtomicBool) -> io::Result<Share> {
    urgency::apply(Urgency::Links);
    links.run(end, stop).map(|()| Share::of_thread())
}

/// Rows of what shared the machine: links, applications, and each daemon by its router.
fn processes(links: Share, applications: Share, daemons: Vec<(String, Share)>) -> Vec<ProcessRow> {
    let own = [("links".to_owned(), links), ("applications".to_owned(), applications)];
    let daemons = daemons.into_iter().map(|(router, share)| (format!("gateway {router}"), share));
    let row = |(name, Share { running, waiting })| ProcessRow { name, running, waiting };
    own.into_iter().chain(daemons).map(row).collect()
}
