//! From a plan to a running world, and from there to an [`Outcome`].

mod addresses;
mod announcer;
mod blackhole;
mod bonds;
mod broadcasts;
mod build;
mod capture;
mod clock;
mod collect;
mod datagrams;
mod endpoint;
mod events;
mod gateway;
mod host;
mod late;
mod listen;
mod node;
mod packet;
mod period;
mod ports;
mod router;
mod run_up;
mod sacked;
mod sample;
mod shared_ports;
mod simulation;
mod trace;
mod transport;
mod view;
mod wireless;

pub use collect::link_rows;
pub(crate) use events::MOST_EVENTS;

use crate::outcome::{Outcome, Provenance};
use crate::plan::Plan;
use crate::plan::wifi::{Stage, WifiError, WifiPlan};
use crate::scenario::Scenario;
use crate::watch::Watch;
use build::build;
use capture::{CaptureTap, Choice};
use events::EventLog;
use listen::{EventTap, Listeners, PausingTap};
use packet::Packet;
use ropewalk_sim::{Medium, NoMedium, NoTap, Tap};
use ropewalk_units::{Duration, Instant};
use ropewalk_wifi::Network;
use run_up::RunUp;
use sample::{Sampler, Samples};
use simulation::{Radio, Simulation};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wireless::{MediumDriver, Wired, WirelessDriver};

/// How a scenario is run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions<'a> {
    /// Instead of the scenario's own seed.
    pub seed: Option<u64>,
    /// Collect the time series?
    pub series: bool,
    /// Write captures of all hosts and links into this folder.
    pub capture: Option<PathBuf>,
    /// Of these links alone, and of no host; all if there are none.
    pub capture_links: &'a [String],
    /// Octets of each packet that captures keep; 0 keeps all.
    pub snap_length: u32,
    /// Stops the run when it becomes true.
    pub stop: Option<&'a AtomicBool>,
    /// Told the simulated time that the run has reached, in nanoseconds.
    pub reached: Option<&'a AtomicU64>,
}

/// Why a run has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It was stopped through [`RunOptions::stop`].
    #[error("the run was interrupted at {at}")]
    Interrupted {
        /// The simulated time it had reached.
        at: Instant,
    },
    /// Its hosts are Linux's: it runs in real time, which the crate `ropewalk-live` does.
    #[error("the hosts of this scenario run Linux's stack: it is emulated, not simulated")]
    Emulated,
    /// With this seed the wireless network cannot be.
    #[error("with seed {seed}: {source}")]
    Wifi {
        /// The seed.
        seed: u64,
        /// Why.
        source: WifiError,
    },
    /// A capture is wanted of a link that there is not.
    #[error("there is no link `{name}` to capture; the links are {links}")]
    NoLink {
        /// The name.
        name: String,
        /// Those that there are.
        links: String,
    },
    /// A capture could not be written.
    #[error("cannot write the captures into {}: {source}", folder.display())]
    Capture {
        /// The folder.
        folder: PathBuf,
        /// The file system's words.
        source: io::Error,
    },
}

/// Runs a scenario to its end.
///
/// The same scenario and seed give the same outcome, byte for byte, on every machine.
///
/// # Errors
/// [`RunError`].
pub fn run(scenario: &Scenario, options: &RunOptions<'_>) -> Result<Outcome, RunError> {
    run_plan(scenario.plan(), &scenario.hash(), options)
}

/// Runs a plan to its end. `scenario_hash` goes into the provenance.
///
/// # Errors
/// [`RunError`].
pub fn run_plan(plan: &Plan, scenario_hash: &str, options: &RunOptions<'_>) -> Result<Outcome, RunError> {
    if plan.is_emulation() {
        return Err(RunError::Emulated);
    }
    let seed = options.seed.unwrap_or(plan.settings.seed);
    let provenance =
        Provenance { scenario: plan.settings.name.clone(), scenario_hash: scenario_hash.to_owned(), seed };
    let watch = Watch { stop: options.stop, progress: None };
    let run = Run { plan, provenance, options };
    let has_run_up = !run_up::length(plan).is_zero();
    let Some(wifi) = &plan.wifi else {
        let radio = || Radio { medium: NoMedium, entries: Vec::new(), ports: Vec::new() };
        let run_up = has_run_up.then(|| RunUp::new(plan, seed, radio(), &watch)).transpose()?;
        return run.captured(radio(), Wired, run_up);
    };
    let run_up = match has_run_up {
        true => Some(RunUp::new(plan, seed, radio(staged(wifi, seed, &watch)?), &watch)?),
        false => None,
    };
    let mut stage = staged(wifi, seed, &watch)?;
    let driver = WirelessDriver::new(wifi, seed, &mut stage, plan.settings.events);
    run.captured(radio(stage), driver, run_up)
}

impl Scenario {
    /// Are there stations and routes with this seed? What is drawn for it need not be drawn again.
    ///
    /// # Errors
    /// As those of [`run`](crate::run), before anything runs.
    pub fn check_seed(&self, seed: u64, watch: Watch<'_>) -> Result<(), RunError> {
        let Some(wifi) = &self.plan.wifi else { return Ok(()) };
        staged(wifi, seed, &watch).map(drop)
    }
}

fn radio(stage: Stage) -> Radio<Network> {
    Radio { medium: stage.network, entries: stage.entries, ports: stage.ports }
}

/// The network with everything placed.
fn staged(wifi: &WifiPlan, seed: u64, watch: &Watch<'_>) -> Result<Stage, RunError> {
    wifi.stage(seed, watch).map_err(|source| match watch.is_stopped() {
        true => RunError::Interrupted { at: Instant::ZERO },
        false => RunError::Wifi { seed, source },
    })
}

/// Simulated time between two looks at [`RunOptions::stop`], at most.
const LONGEST_STRETCH: Duration = Duration::from_secs(1);

/// One run.
struct Run<'a> {
    plan: &'a Plan,
    provenance: Provenance,
    options: &'a RunOptions<'a>,
}

impl Run<'_> {
    /// With captures and events, if they are asked for.
    fn captured<M: Medium<Packet>>(
        self,
        radio: Radio<M>,
        driver: impl MediumDriver<M>,
        run_up: Option<RunUp<M>>,
    ) -> Result<Outcome, RunError> {
        let wants_events = !self.plan.settings.events.is_empty();
        if self.options.capture.is_none() && !wants_events {
            let mut simulation = self.begin(NoTap, radio, run_up);
            return self.simulate(&mut simulation, driver);
        }
        let folder = self.options.capture.as_deref();
        let failed =
            |source| RunError::Capture { folder: folder.unwrap_or(Path::new("")).to_owned(), source };
        let choice = self.chosen()?;
        let capture = folder.map(|folder| CaptureTap::create(self.plan, &radio.ports, folder, choice));
        let capture = capture.transpose().map_err(failed)?;
        let events = wants_events.then(|| EventTap::new(self.plan));
        let mut simulation = self.begin(Listeners { capture, events }, radio, run_up);
        let outcome = self.simulate(&mut simulation, driver)?;
        if let Some(capture) = simulation.world.into_tap().capture {
            capture.finish().map_err(failed)?;
        }
        Ok(outcome)
    }

    /// What captures keep.
    fn chosen(&self) -> Result<Choice<'_>, RunError> {
        let RunOptions { capture_links: links, snap_length, .. } = *self.options;
        let names = || self.plan.links.iter().filter(|link| link.bond().is_none()).map(|link| &link.name);
        match links.iter().find(|name| !names().any(|link| link == *name)) {
            None => Ok(Choice { links, snap_length }),
            Some(name) => Err(RunError::NoLink {
                name: name.clone(),
                links: names().cloned().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// The world at its beginning, with its bonds as they have come up.
    fn begin<T: Tap<Packet>, M: Medium<Packet>>(
        &self,
        tap: T,
        radio: Radio<M>,
        run_up: Option<RunUp<M>>,
    ) -> Simulation<T, M> {
        let mut simulation = build(self.plan, self.provenance.seed, tap, radio);
        if let Some(run_up) = run_up {
            run_up.move_on(self.plan, &mut simulation);
        }
        simulation
    }

    fn simulate<T: PausingTap, M: Medium<Packet>>(
        self,
        simulation: &mut Simulation<T, M>,
        mut driver: impl MediumDriver<M>,
    ) -> Result<Outcome, RunError> {
        let Self { plan, provenance, options } = self;
        let end = Instant::ZERO + plan.settings.duration;
        let mut sampler = options.series.then(|| Sampler::new(plan));
        let mut log = (!plan.settings.events.is_empty()).then(|| EventLog::begin(plan, simulation));
        if log.is_some() {
            driver.watch(simulation);
        }
        if simulation.world.tap().has_air() {
            driver.sniff(simulation);
        }
        let mut now = Instant::ZERO;
        let mut next_sample = Instant::ZERO;
        while now < end {
            if now == next_sample {
                next_sample = now.saturating_add(plan.settings.sample_interval).min(end);
            }
            let stretch = next_sample.min(now.saturating_add(LONGEST_STRETCH));
            now = driver.next().map_or(stretch, |at| at.min(stretch));
            simulation.world.run_until(now);
            if let Some(reached) = options.reached {
                reached.store(now.as_nanos(), Ordering::Relaxed);
            }
            if now < end {
                driver.step(simulation);
            }
            pause(plan, simulation, &mut driver, log.as_mut());
            if let Some(sampler) = &mut sampler
                && now == next_sample
            {
                sampler.sample(plan, simulation);
            }
            if options.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(RunError::Interrupted { at: now });
            }
        }
        let Samples { series, mptcp_series, bond_series, link_series } =
            sampler.map(Sampler::finish).unwrap_or_default();
        let (routes, route_changes) = driver.routes(end);
        let connections = collect::connections(plan, simulation);
        let subflows = collect::subflow_rows(plan, simulation, &connections);
        let happenings = log.map(|log| log.finish(end, plan, &subflows)).unwrap_or_default();
        Ok(Outcome {
            provenance,
            duration: plan.settings.duration,
            subflows,
            frames: collect::frames(plan, simulation),
            links: collect::links(plan, simulation),
            bonds: bonds::rows(plan, simulation),
            radios: driver.radios(simulation),
            hops: driver.hops(simulation),
            broadcasts: driver.broadcasts(simulation),
            routes,
            route_changes,
            commands: Vec::new(),
            sockets: Vec::new(),
            processes: Vec::new(),
            series,
            mptcp_series,
            bond_series,
            link_series,
            happenings,
            events: simulation.world.events_processed(),
            lateness: None,
            connections,
        })
    }
}

/// Collects what has happened up to now, and has captures write what they have heard.
fn pause<T: PausingTap, M: Medium<Packet>>(
    plan: &Plan,
    simulation: &mut Simulation<T, M>,
    driver: &mut impl MediumDriver<M>,
    log: Option<&mut EventLog>,
) {
    let mut comments = Vec::new();
    if let Some(log) = log {
        let heard = simulation.world.tap_mut().take_heard();
        let others = driver.events(simulation);
        log.collect(plan, simulation, heard, others);
        if simulation.world.tap().has_capture() {
            comments = log.comments(plan, simulation);
        }
    }
    if simulation.world.tap().has_air() {
        let frames = driver.frames(simulation);
        simulation.world.tap_mut().write_air(frames);
    }
    simulation.world.tap_mut().pause(comments);
}
