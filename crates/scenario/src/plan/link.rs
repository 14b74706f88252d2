//! Links: the tables of both directions, merged and checked.

use super::context::Context;
use super::queue::queue;
use super::{Carrier, ChangePlan, LinkPlan, NodePlan, WirePlan};
use crate::error::ScenarioError;
use crate::schema::link::{
    ChangeTable, DEFAULT_MTU, Direction, DirectionTable, DirectionValue, JitterTable, LinkState, LinkTable,
    LossTable, QueueTable,
};
use crate::schema::quantity::{Chance, Time};
use ropewalk_sim::{Change, DirectionConfig, Jitter, Loss, Queue, Trace};
use ropewalk_units::{Duration, Instant, Probability, Rate};
use std::net::Ipv4Addr;

/// IPv4 and TCP headers with all options, and a little payload.
const LEAST_MTU: u32 = 128;

/// Subnets 10.x.y.0/24.
const MOST_LINKS: usize = 65_536;

/// The file's keys of the two directions.
pub(crate) const DIRECTION_KEYS: [&str; 2] = ["forward", "backward"];

/// All links, sorted by name.
pub(super) fn links(context: &Context<'_>, nodes: &[NodePlan]) -> Result<Vec<LinkPlan>, ScenarioError> {
    let file = context.file;
    if file.links.len() > MOST_LINKS {
        let message = format!("{} links are more than there are subnets", file.links.len());
        return Err(context.misplaced("links", message, format!("at most {MOST_LINKS} links")));
    }
    let build = |(index, (name, table)): (usize, (_, _))| link(context, nodes, index, name, table);
    let names = file.links.iter().map(|(name, table)| (name.as_str(), table));
    names.enumerate().map(build).collect()
}

fn link(
    context: &Context<'_>,
    nodes: &[NodePlan],
    index: usize,
    name: &str,
    table: &LinkTable,
) -> Result<LinkPlan, ScenarioError> {
    let base = format!("links.{name}");
    let ends = ends(context, nodes, &base, table)?;
    let mtu = checked_mtu(context, &base, table.mtu)?;
    let directions = |direction: usize| {
        let merged =
            Merged { context, base: &base, direction, own: table.only(direction), both: table.both(), mtu };
        self::direction(&merged, capacity(&merged)?)
    };
    let directions = [directions(0)?, directions(1)?];
    let traced = directions.iter().any(|direction| direction.trace.is_some())
        || table.changes.iter().any(|change| change.trace.is_some());
    let mut changes = Vec::new();
    for (number, change) in table.changes.iter().enumerate() {
        let key = format!("{base}.changes[{number}]");
        changes.extend(changes_of(&At { context, key, mtu }, change, traced)?);
    }
    changes.sort_by_key(|change: &ChangePlan| change.at);
    Ok(LinkPlan {
        name: name.to_owned(),
        ends,
        addresses: addresses(index),
        mtu,
        carrier: Carrier::Wire(WirePlan { directions, changes }),
    })
}

/// The addresses of the link with this index: 10.x.y.1 and 10.x.y.2.
pub(super) const fn addresses(index: usize) -> [Ipv4Addr; 2] {
    let (high, low) = ((index / 256) as u8, (index % 256) as u8);
    [Ipv4Addr::new(10, high, low, 1), Ipv4Addr::new(10, high, low, 2)]
}

fn ends(
    context: &Context<'_>,
    nodes: &[NodePlan],
    base: &str,
    table: &LinkTable,
) -> Result<[usize; 2], ScenarioError> {
    let mut ends = [0; 2];
    for (end, name) in table.between.iter().enumerate() {
        let found = nodes.iter().position(|node| node.name == name.as_str());
        ends[end] = found.ok_or_else(|| {
            let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            context.unknown(&format!("{base}.between[{end}]"), "host or router", name.as_str(), known)
        })?;
    }
    if ends[0] == ends[1] {
        let message = format!("this link joins `{}` with itself", table.between[0].as_str());
        return Err(context.wrong(&format!("{base}.between"), message, "two different nodes"));
    }
    Ok(ends)
}

/// The MTU that a link's table gives, or the default.
pub(super) fn checked_mtu(
    context: &Context<'_>,
    base: &str,
    given: Option<u32>,
) -> Result<u32, ScenarioError> {
    let mtu = given.unwrap_or(DEFAULT_MTU);
    if !(LEAST_MTU..=65_535).contains(&mtu) {
        let message = if mtu < LEAST_MTU {
            format!("an MTU of {mtu} octets is too small for the headers of TCP and its options")
        } else {
            format!("no IP packet has {mtu} octets")
        };
        return Err(context.wrong(&format!("{base}.mtu"), message, format!("{LEAST_MTU} to 65535")));
    }
    Ok(mtu)
}

/// A value in the file: where it stands, and on which link.
struct At<'a> {
    context: &'a Context<'a>,
    /// Its key.
    key: String,
    /// The link's.
    mtu: u32,
}

/// A value of a direction that is read from what a file says for it.
trait Read: DirectionValue + Sized {
    /// The value, if it can be.
    fn read(at: &At<'_>, form: &Self::Form) -> Result<Self, ScenarioError>;
}

/// A direction's tables: its own keys go before those of both directions.
struct Merged<'a> {
    context: &'a Context<'a>,
    base: &'a str,
    direction: usize,
    own: Option<&'a DirectionTable>,
    both: DirectionTable,
    mtu: u32,
}

impl Merged<'_> {
    /// The value of a key, if it is given.
    fn get<T: Read>(
        &self,
        key: &str,
        pick: impl Fn(&DirectionTable) -> Option<&T::Form>,
    ) -> Result<Option<T>, ScenarioError> {
        let own = self.own.and_then(&pick);
        let own = own.map(|form| (form, format!("{}.{}.{key}", self.base, DIRECTION_KEYS[self.direction])));
        let found = own.or_else(|| pick(&self.both).map(|form| (form, format!("{}.{key}", self.base))));
        let read = |(form, key)| T::read(&At { context: self.context, key, mtu: self.mtu }, form);
        found.map(read).transpose()
    }
}

/// What becomes of the keys that [`ropewalk_sim::direction_keys`] declares.
macro_rules! direction_values {
    ($($(#[$doc:meta])* $key:ident: $variant:ident($type:ty) = $default:expr;)*) => {
        /// The direction of this capacity.
        fn direction(
            merged: &Merged<'_>,
            (rate, trace): (Rate, Option<Trace>),
        ) -> Result<DirectionConfig, ScenarioError> {
            let mut config = DirectionConfig { trace, ..DirectionConfig::new(rate) };
            $(if let Some(value) = merged.get(stringify!($key), |table| table.$key.as_ref())? {
                config.$key = value;
            })*
            Ok(config)
        }

        /// What else changes than the capacity and the state.
        fn changed_values(at: &At<'_>, table: &ChangeTable) -> Result<Vec<Change>, ScenarioError> {
            let mut changes = Vec::new();
            $(if let Some(form) = &table.$key {
                let key = format!("{}.{}", at.key, stringify!($key));
                changes.push(Change::$variant(Read::read(&At { key, ..*at }, form)?));
            })*
            Ok(changes)
        }
    };
}

ropewalk_sim::direction_keys!(direction_values);

/// Rate or trace: what the direction itself names goes before what both name.
fn capacity(merged: &Merged<'_>) -> Result<(Rate, Option<Trace>), ScenarioError> {
    let context = merged.context;
    let name = DIRECTION_KEYS[merged.direction];
    let own = (format!("{}.{name}", merged.base), merged.own);
    let both = (merged.base.to_owned(), Some(&merged.both));
    for (base, table) in [own, both] {
        let Some(table) = table else { continue };
        match (table.rate, &table.trace) {
            (Some(_), Some(_)) => {
                let message = "a link has a rate or a trace, not both";
                return Err(context.misplaced(&format!("{base}.trace"), message, "one of the two"));
            }
            (Some(rate), None) => {
                return positive(context, &format!("{base}.rate"), rate.0).map(|rate| (rate, None));
            }
            (None, Some(file)) => {
                let trace = context.trace(&format!("{base}.trace"), file)?;
                return Ok((mean_rate(&trace), Some(trace)));
            }
            (None, None) => {}
        }
    }
    let message = format!("the key `rate` is missing (in direction {name})");
    Err(context.misplaced(&format!("{}.rate", merged.base), message, "a key `rate` or `trace`"))
}

/// What a trace carries on average: 1500 octets at each opportunity.
fn mean_rate(trace: &Trace) -> Rate {
    let count = trace.opportunities_ms.len() as u64;
    let last = trace.opportunities_ms.last().copied().unwrap_or(1);
    Rate::from_bits_per_sec(count * 1500 * 8 * 1000 / last.max(1))
}

fn positive(context: &Context<'_>, key: &str, rate: Rate) -> Result<Rate, ScenarioError> {
    if rate == Rate::ZERO {
        return Err(context.wrong(
            key,
            "nothing passes a rate of zero",
            "a rate above zero (a link goes down by `changes = [{ at = \"10 s\", state = \"down\" }]`)",
        ));
    }
    Ok(rate)
}

impl Read for Duration {
    fn read(_: &At<'_>, form: &Time) -> Result<Self, ScenarioError> {
        Ok(form.0)
    }
}

impl Read for bool {
    fn read(_: &At<'_>, form: &Self) -> Result<Self, ScenarioError> {
        Ok(*form)
    }
}

impl Read for Probability {
    fn read(_: &At<'_>, form: &Chance) -> Result<Self, ScenarioError> {
        Ok(form.0)
    }
}

impl Read for Queue {
    fn read(at: &At<'_>, form: &QueueTable) -> Result<Self, ScenarioError> {
        queue(at.context, &at.key, form, at.mtu)
    }
}

impl Read for Loss {
    fn read(at: &At<'_>, table: &LossTable) -> Result<Self, ScenarioError> {
        Ok(match table {
            LossTable::None(_) => Loss::None,
            LossTable::Bernoulli(table) if table.probability.0 == Probability::ZERO => Loss::None,
            LossTable::Bernoulli(table) => Loss::Bernoulli(table.probability.0),
            LossTable::BitErrors(table) => Loss::BitErrors(table.probability.0),
            LossTable::GilbertElliott(table) => Loss::GilbertElliott {
                good_to_bad: table.good_to_bad.0,
                bad_to_good: table.bad_to_good.0,
                loss_good: table.loss_good.map_or(Probability::ZERO, |chance| chance.0),
                loss_bad: table.loss_bad.map_or_else(certain, |chance| chance.0),
            },
            LossTable::Exact(table) => {
                let mut packets = Vec::with_capacity(table.packets.len());
                for (index, &number) in table.packets.iter().enumerate() {
                    let positive = u64::try_from(number).ok().filter(|&number| number > 0);
                    packets.push(positive.ok_or_else(|| {
                        let message = format!("there is no data packet number {number}");
                        at.context.wrong(&format!("{}.packets[{index}]", at.key), message, "numbers from 1")
                    })?);
                }
                packets.sort_unstable();
                packets.dedup();
                Loss::Exact(packets.into())
            }
        })
    }
}

fn certain() -> Probability {
    Probability::new(1.0).unwrap_or_default()
}

/// Time between two targets of a wandering delay that names none.
const WANDER_INTERVAL: Duration = Duration::from_secs(1);

impl Read for Jitter {
    fn read(at: &At<'_>, table: &JitterTable) -> Result<Self, ScenarioError> {
        Ok(match table {
            JitterTable::None(_) => Jitter::None,
            JitterTable::Uniform(table) => Jitter::Uniform(table.max.0),
            JitterTable::Normal(table) => Jitter::Normal(table.deviation.0),
            JitterTable::Exponential(table) => Jitter::Exponential(table.mean.0),
            JitterTable::Wander(table) => {
                let interval = table.interval.map_or(WANDER_INTERVAL, |time| time.0);
                if interval.is_zero() {
                    let message = "a target is drawn without end in no time";
                    return Err(at.context.wrong(
                        &format!("{}.interval", at.key),
                        message,
                        "a time above zero",
                    ));
                }
                Jitter::Wander { max: table.max.0, interval }
            }
        })
    }
}

/// The changes of one entry of `changes`: one per thing and direction.
fn changes_of(at: &At<'_>, table: &ChangeTable, traced: bool) -> Result<Vec<ChangePlan>, ScenarioError> {
    let chosen: &[usize] = match table.direction {
        None => &[0, 1],
        Some(Direction::Forward) => &[0],
        Some(Direction::Backward) => &[1],
    };
    let mut list = changed_capacity(at, table, traced)?;
    list.extend(changed_values(at, table)?);
    list.extend(table.state.map(|state| match state {
        LinkState::Down => Change::Down,
        LinkState::Up => Change::Up,
    }));
    if list.is_empty() {
        let expected = "`state`, `rate`, `delay`, `loss` or another key beside `at`";
        return Err(at.context.wrong(&at.key, "nothing changes here", expected));
    }
    let time = Instant::ZERO + table.at.0;
    let plan = |direction: usize| {
        let changes = list.iter().cloned();
        changes.map(move |change| ChangePlan { at: time, direction, change })
    };
    Ok(chosen.iter().flat_map(|&direction| plan(direction)).collect())
}

/// A new rate or trace; a rate takes the place of a trace.
fn changed_capacity(at: &At<'_>, table: &ChangeTable, traced: bool) -> Result<Vec<Change>, ScenarioError> {
    let At { context, key, .. } = at;
    Ok(match (table.rate, &table.trace) {
        (Some(_), Some(_)) => {
            let message = "a link has a rate or a trace, not both";
            return Err(context.misplaced(&format!("{key}.trace"), message, "one of the two"));
        }
        (Some(rate), None) => {
            let rate = positive(context, &format!("{key}.rate"), rate.0)?;
            traced.then_some(Change::Trace(None)).into_iter().chain([Change::Rate(rate)]).collect()
        }
        (None, Some(file)) => vec![Change::Trace(Some(context.trace(&format!("{key}.trace"), file)?))],
        (None, None) => Vec::new(),
    })
}
