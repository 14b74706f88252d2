//! The gateways of a scenario's bonds: for each bond two daemons, `ropewalk-gateway`, in the namespaces of its routers.

mod config;
mod daemon;
mod ledger;
mod status;

use crate::clock::Clock;
use crate::error::{Error, Step};
use crate::lease::Lease;
use crate::site::Site;
use config::{Draft, Role};
use daemon::{Daemon, keygen};
use ledger::End;
use ropewalk_scenario::plan::{BondPlan, LinkPlan, Plan};
use ropewalk_scenario::{BondRow, BondSeries, BondSeriesRow};
use ropewalk_units::{Duration, Instant};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Daemons have so long to find each other.
const PATIENCE: Duration = Duration::from_secs(30);
/// Who waits for them looks this often.
const LOOK: Duration = Duration::from_millis(20);
/// Without a series they are asked this often: a session that ends is then known by what it was.
const RARELY: Duration = Duration::from_millis(200);

/// A bond at work.
struct Bond<'a> {
    link: &'a LinkPlan,
    plan: &'a BondPlan,
    /// In the order of the link's ends.
    daemons: [Daemon; 2],
    ends: [End; 2],
}

/// All bonds of a scenario with Linux hosts. The daemons end with this value.
pub(crate) struct Bonds<'a> {
    plan: &'a Plan,
    all: Vec<Bond<'a>>,
}

/// The bonds of a plan, with nothing of this machine.
fn drafts(plan: &Plan) -> impl Iterator<Item = Draft<'_>> {
    let bonds = plan.links.iter().enumerate().filter_map(|(index, link)| Some((index, link, link.bond()?)));
    bonds.enumerate().map(move |(number, (index, link, bond))| Draft { plan, number, index, link, bond })
}

fn failed(gateway: &str) -> impl Fn(io::Error) -> Error {
    let step = Step::Gateway(gateway.to_owned());
    move |source| Error::Kernel { step: step.clone(), source }
}

impl<'a> Bonds<'a> {
    /// Starts all daemons of a plan. Their keys are drawn now, and go with the lease.
    pub(crate) fn start(
        plan: &'a Plan,
        site: &Site,
        lease: &Lease,
        program: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut bonds = Self { plan, all: Vec::new() };
        let Some(program) = program.filter(|_| drafts(plan).next().is_some()) else { return Ok(bonds) };
        let folder = lease.folder().map_err(|source| Error::Kernel { step: Step::Lock, source })?;
        for draft in drafts(plan) {
            let names = draft.link.ends.map(|end| plan.nodes[end].name.as_str());
            configure(&draft, program, &folder).map_err(failed(names[0]))?;
            let start = |role: Role| {
                let name = names[role.end()];
                let file = |ending: &str| folder.join(draft.file(&format!("{}.{ending}", role.name())));
                let namespace = &site.namespaces[&draft.link.ends[role.end()]];
                let started = Daemon::start(program, name, namespace, (&file("toml"), file("sock")));
                started.map_err(failed(name))
            };
            // Who is asked is there first.
            let hub = start(Role::Hub)?;
            let daemons = [start(Role::Site)?, hub];
            bonds.all.push(Bond { link: draft.link, plan: draft.bond, daemons, ends: Default::default() });
        }
        Ok(bonds)
    }

    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Waits until all have sessions, and then as long as the scenario says. False: it is to stop before.
    pub(crate) fn come_up(&mut self, clock: Clock, stop: &AtomicBool) -> Result<bool, Error> {
        let until = clock.now() + PATIENCE;
        for bond in &mut self.all {
            for daemon in &mut bond.daemons {
                loop {
                    let status = daemon.first_status().map_err(failed(&daemon.name))?;
                    if status.is_some_and(|tunnel| tunnel.paths.len() == bond.plan.paths.len()) {
                        break;
                    }
                    if clock.now() >= until {
                        let what = format!("it has no session after {PATIENCE}{}", daemon.complaint());
                        return Err(failed(&daemon.name)(io::Error::other(what)));
                    }
                    if !clock.wait_until(clock.now() + LOOK, stop) {
                        return Ok(false);
                    }
                }
            }
        }
        let longest = self.all.iter().map(|bond| bond.plan.run_up).max().unwrap_or_default();
        Ok(clock.wait_until(clock.now() + longest, stop))
    }

    /// From now on it counts.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        for bond in &mut self.all {
            for (daemon, end) in bond.daemons.iter().zip(&mut bond.ends) {
                end.begin(daemon.status().map_err(failed(&daemon.name))?, bond.plan);
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Error> {
        for bond in &mut self.all {
            for (daemon, end) in bond.daemons.iter().zip(&mut bond.ends) {
                end.look(daemon.status().map_err(failed(&daemon.name))?);
            }
        }
        Ok(())
    }

    /// Looks until `over`, and once more then; gives the rows. Takes samples if a series is wanted.
    ///
    /// # Errors
    /// A daemon does not answer.
    pub(crate) fn watch(
        &mut self,
        clock: Clock,
        series: bool,
        over: &AtomicBool,
    ) -> Result<(Vec<BondRow>, Vec<BondSeriesRow>), Error> {
        let interval = if series { self.plan.settings.sample_interval } else { RARELY };
        let mut samples = BondSeries::default();
        let (mut next, mut last) = (Instant::ZERO, Instant::ZERO);
        while !self.all.is_empty() {
            let goes_on = clock.wait_until(next, over);
            self.look()?;
            let now = clock.now();
            if series && now > last {
                let ends = self.all.iter().map(|bond| bond.ends.each_ref());
                samples.add(now, now.saturating_since(last), ledger::totals(ends));
            }
            if !goes_on {
                break;
            }
            last = now;
            // A machine that is too slow gets fewer samples, not late ones in a row.
            while next <= now {
                next = next.saturating_add(interval);
            }
        }
        let rows = self
            .all
            .iter()
            .flat_map(|bond| ledger::rows(self.plan, (bond.link, bond.plan), bond.ends.each_ref()));
        Ok((rows.collect(), samples.into_rows()))
    }
}

/// Draws the keys of a bond, and writes both configurations.
fn configure(draft: &Draft<'_>, program: &Path, folder: &Path) -> io::Result<()> {
    let draw = |what: &str| keygen(program, &folder.join(draft.file(what)));
    let [site, hub] = [draw("site.key")?, draw("hub.key")?];
    draw("psk")?;
    for (role, peer) in Role::BOTH.into_iter().zip([hub, site]) {
        let file = |ending: &str| folder.join(draft.file(&format!("{}.{ending}", role.name())));
        fs::write(file("toml"), draft.text(role, &file("sock").display().to_string(), &peer))?;
    }
    Ok(())
}
