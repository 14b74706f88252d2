//! The gateways of a scenario's bonds: for each bond two daemons, `ropewalk-gateway`, in the
//! namespaces of its routers.

mod config;
mod daemon;
mod ledger;
mod status;

use crate::clock::Clock;
use crate::error::{Error, Step};
use crate::lease::Lease;
use crate::processor::Share;
use crate::site::Site;
use config::{Draft, Hub, Role};
use daemon::{Daemon, keygen};
use ledger::End;
use ropewalk_scenario::plan::{BondPlan, LinkPlan, Plan};
use ropewalk_scenario::{BondRow, BondSeries, BondSeriesRow};
use ropewalk_units::{Duration, Instant};
use status::{Peer, with};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The time that daemons have to find each other.
const PATIENCE: Duration = Duration::from_secs(30);
/// The time between two checks whether they have.
const LOOK: Duration = Duration::from_millis(20);
/// Without a series the daemons are asked this often. When a session ends, its last counts are then
/// known.
const RARELY: Duration = Duration::from_millis(200);

/// One end of a bond: which daemon it is, how that names the other end, and what it has counted.
struct Seat {
    daemon: usize,
    peer: String,
    end: End,
}

/// A bond at work.
struct Bond<'a> {
    link: &'a LinkPlan,
    plan: &'a BondPlan,
    /// In the order of the link's ends.
    seats: [Seat; 2],
}

/// All bonds of a scenario with Linux hosts. The daemons end with this value.
pub(crate) struct Bonds<'a> {
    plan: &'a Plan,
    daemons: Vec<Daemon>,
    /// The processor time that they had had when they began to count.
    before: Vec<Share>,
    all: Vec<Bond<'a>>,
}

/// A site's name for its hub.
const HUB: &str = "hub";

/// The bonds of a plan by their hubs, with nothing of this machine. A hub has one set of keys for
/// all of its sites: a bond that has others gets a hub of its own on the same router.
fn hubs(plan: &Plan) -> Vec<Hub<'_>> {
    let bonds = plan.links.iter().enumerate().filter_map(|(index, link)| Some((index, link, link.bond()?)));
    let mut hubs: Vec<Hub<'_>> = Vec::new();
    for (number, (index, link, bond)) in bonds.enumerate() {
        let table = plan.bond_table(link).unwrap_or_default();
        let mut draft = Draft { plan, number, hub: number, index, link, bond, table };
        let shared = hubs.iter_mut().find(|hub| {
            let first = &hub.bonds[0];
            first.link.ends[Role::Hub.end()] == link.ends[Role::Hub.end()] && first.keys() == draft.keys()
        });
        match shared {
            Some(hub) => {
                draft.hub = hub.number();
                hub.bonds.push(draft);
            }
            None => hubs.push(Hub { bonds: vec![draft] }),
        }
    }
    hubs
}

fn failed(gateway: &str) -> impl Fn(io::Error) -> Error {
    let step = Step::Gateway(gateway.to_owned());
    move |source| Error::Kernel { step: step.clone(), source }
}

impl<'a> Bonds<'a> {
    /// Starts all daemons of a plan. Their keys are drawn here, and are removed with the lease.
    pub(crate) fn start(
        plan: &'a Plan,
        site: &Site,
        lease: &Lease,
        program: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut bonds = Self { plan, daemons: Vec::new(), before: Vec::new(), all: Vec::new() };
        let hubs = hubs(plan);
        let Some(program) = program.filter(|_| !hubs.is_empty()) else { return Ok(bonds) };
        let folder = lease.folder().map_err(|source| Error::Kernel { step: Step::Lock, source })?;
        for hub in &hubs {
            bonds.start_hub(hub, site, (program, &folder))?;
        }
        bonds.all.sort_by_key(|bond| bond.link.name.clone());
        Ok(bonds)
    }

    /// Starts a hub and its sites. The hub comes first, since the sites ask it for sessions.
    fn start_hub(
        &mut self,
        hub: &Hub<'a>,
        site: &Site,
        (program, folder): (&Path, &Path),
    ) -> Result<(), Error> {
        let plan = self.plan;
        let name = |role: Role, draft: &Draft<'a>| plan.nodes[draft.link.ends[role.end()]].name.as_str();
        configure(hub, program, folder).map_err(failed(name(Role::Hub, &hub.bonds[0])))?;
        let mut start = |role: Role, draft: &Draft<'a>, number: usize| {
            let file = |ending: &str| folder.join(config::file(number, &format!("{}.{ending}", role.name())));
            let namespace = &site.namespaces[&draft.link.ends[role.end()]];
            let started = Daemon::start(program, name(role, draft), namespace, (&file("toml"), file("sock")));
            self.daemons.push(started.map_err(failed(name(role, draft)))?);
            Ok::<_, Error>(self.daemons.len() - 1)
        };
        let of_hub = start(Role::Hub, &hub.bonds[0], hub.number())?;
        for draft in &hub.bonds {
            let of_site = start(Role::Site, draft, draft.number)?;
            let seat =
                |daemon: usize, peer: &str| Seat { daemon, peer: peer.to_owned(), end: End::default() };
            let seats = [seat(of_site, HUB), seat(of_hub, &draft.link.name)];
            self.all.push(Bond { link: draft.link, plan: draft.bond, seats });
        }
        Ok(())
    }

    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Waits until all have sessions, and then as long as the scenario says. Returns false if
    /// `stop` is set before.
    pub(crate) fn come_up(&mut self, clock: Clock, stop: &AtomicBool) -> Result<bool, Error> {
        let until = clock.now() + PATIENCE;
        for bond in &self.all {
            for seat in &bond.seats {
                let daemon = &mut self.daemons[seat.daemon];
                loop {
                    let peers = daemon.first_status().map_err(failed(&daemon.name))?;
                    if with(&peers, &seat.peer)
                        .is_some_and(|tunnel| tunnel.paths.len() == bond.plan.paths.len())
                    {
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

    /// What all daemons tell.
    fn ask(&self) -> Result<Vec<Vec<Peer>>, Error> {
        self.daemons.iter().map(|daemon| daemon.status().map_err(failed(&daemon.name))).collect()
    }

    /// Begins to count.
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.before = self.daemons.iter().map(Daemon::share).collect();
        let told = self.ask()?;
        for bond in &mut self.all {
            for seat in &mut bond.seats {
                seat.end.begin(with(&told[seat.daemon], &seat.peer).cloned(), bond.plan);
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Error> {
        let told = self.ask()?;
        for seat in self.all.iter_mut().flat_map(|bond| &mut bond.seats) {
            seat.end.look(with(&told[seat.daemon], &seat.peer).cloned());
        }
        Ok(())
    }

    /// The processor time that each daemon has had since it counts, by the name of its router.
    pub(crate) fn shares(&self) -> Vec<(String, Share)> {
        let daemons = self.daemons.iter().zip(&self.before);
        daemons.map(|(daemon, before)| (daemon.name.clone(), daemon.share().since(*before))).collect()
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
                let ends = self.all.iter().map(Bond::ends);
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
        let rows =
            self.all.iter().flat_map(|bond| ledger::rows(self.plan, (bond.link, bond.plan), bond.ends()));
        Ok((rows.collect(), samples.into_rows()))
    }
}

impl Bond<'_> {
    fn ends(&self) -> [&End; 2] {
        self.seats.each_ref().map(|seat| &seat.end)
    }
}

/// Draws the keys of a hub and its sites, and writes their configurations.
fn configure(hub: &Hub<'_>, program: &Path, folder: &Path) -> io::Result<()> {
    let file = |number: usize, what: &str| folder.join(config::file(number, what));
    let control =
        |number: usize, role: Role| file(number, &format!("{}.sock", role.name())).display().to_string();
    let own = keygen(program, &file(hub.number(), "hub.key"))?;
    let mut sites = Vec::new();
    for bond in &hub.bonds {
        sites.push(keygen(program, &file(bond.number, "site.key"))?);
        keygen(program, &file(bond.number, "psk"))?;
        fs::write(file(bond.number, "site.toml"), bond.site(&control(bond.number, Role::Site), &own))?;
    }
    fs::write(file(hub.number(), "hub.toml"), hub.text(&control(hub.number(), Role::Hub), &sites))
}
