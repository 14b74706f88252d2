//! Links: the tables of both directions, merged and checked.

use super::context::Context;
use super::{Carrier, ChangePlan, LinkPlan, NodePlan, WirePlan};
use crate::document::Origin;
use crate::error::ScenarioError;
use crate::schema::address_family::AddressFamily;
use crate::schema::jitter::JitterTable;
use crate::schema::link::{ChangeTable, DEFAULT_MTU, Direction, DirectionTable, LinkState, LinkTable};
use crate::schema::loss::LossTable;
use crate::schema::quantity::{Chance, Time};
use crate::schema::table::Value;
use ropewalk_sim::{Change, DirectionConfig, Trace};
use ropewalk_units::{Instant, Rate};

/// IPv4 and TCP headers with all options, and a little payload.
const LEAST_MTU: u32 = 128;
/// Every link that carries IPv6 has so much (RFC 8200 §5). Linux turns IPv6 off where an interface has less.
const LEAST_IPV6_MTU: u32 = 1280;

/// Subnets 10.x.y.0/24.
const MOST_LINKS: usize = 65_536;

/// The file's keys of the two directions.
pub(crate) const DIRECTION_KEYS: [&str; 2] = ["forward", "backward"];

/// What a link has whose own rate is a mistake.
const ANY_RATE: Rate = Rate::from_bits_per_sec(1_000_000);

/// All links, sorted by name; `None` if it is unknown what one of them joins.
pub(super) fn links(context: &Context<'_>, nodes: &[NodePlan]) -> Option<Vec<LinkPlan>> {
    let file = context.file;
    if file.links.len() > MOST_LINKS {
        let message = format!("{} links are more than there are subnets", file.links.len());
        context.note::<()>(Err(context.misplaced("links", message, format!("at most {MOST_LINKS} links"))));
        return None;
    }
    let names = file.links.iter().map(|(name, table)| (name.as_str(), table));
    let all: Vec<Option<LinkPlan>> =
        names.enumerate().map(|(index, (name, table))| link(context, nodes, index, name, table)).collect();
    all.into_iter().collect()
}

fn link(
    context: &Context<'_>,
    nodes: &[NodePlan],
    index: usize,
    name: &str,
    table: &LinkTable,
) -> Option<LinkPlan> {
    let base = format!("links.{name}");
    let keys = table.read();
    let ends = context.note(ends(context, nodes, &base, &keys.between));
    let mtu = context.note(checked_mtu(context, &base, keys.mtu)).unwrap_or(DEFAULT_MTU);
    let directions = [0, 1].map(|direction| {
        let merged =
            Merged { context, base: &base, direction, own: table.only(direction), both: table.both(), mtu };
        let config = capacity(&merged).and_then(|capacity| self::direction(&merged, capacity));
        context.note(config).unwrap_or_else(|| DirectionConfig::new(ANY_RATE))
    });
    let changes = changes(context, &base, mtu, table, &directions);
    Some(LinkPlan {
        name: name.to_owned(),
        ends: ends?,
        addresses: context.address_family().of_link(index),
        mtu,
        carrier: Carrier::Wire(WirePlan { directions, changes }),
    })
}

/// All changes of a link, in order of time.
fn changes(
    context: &Context<'_>,
    base: &str,
    mtu: u32,
    table: &LinkTable,
    directions: &[DirectionConfig; 2],
) -> Vec<ChangePlan> {
    let traced = directions.iter().any(|direction| direction.trace.is_some())
        || table.changes.iter().any(|change| change.trace.is_some());
    let mut changes = Vec::new();
    for (number, change) in table.changes.iter().enumerate() {
        let at = At { context, key: format!("{base}.changes[{number}]"), mtu };
        context.note(in_time(&at, change));
        changes.extend(context.note(changes_of(&at, change, traced)).into_iter().flatten());
    }
    changes.sort_by_key(|change: &ChangePlan| change.at);
    changes
}

/// A change after the end is a mistake, unless somebody asked for a shorter run than the file's.
fn in_time(at: &At<'_>, change: &ChangeTable) -> Result<(), ScenarioError> {
    let duration = at.context.file.scenario.read().duration;
    let written = at.context.document.find("scenario.duration");
    let is_shortened = written.is_some_and(|found| matches!(found.node.origin, Origin::Override(_)));
    if change.at.0 < duration || is_shortened {
        return Ok(());
    }
    let message = format!("this changes at {}, but the simulation ends at {duration}", change.at.0);
    Err(at.context.wrong(&format!("{}.at", at.key), message, "a time before the end"))
}

fn ends(
    context: &Context<'_>,
    nodes: &[NodePlan],
    base: &str,
    between: &[String; 2],
) -> Result<[usize; 2], ScenarioError> {
    let mut ends = [0; 2];
    for (end, name) in between.iter().enumerate() {
        let found = nodes.iter().position(|node| node.name == *name);
        ends[end] = found.ok_or_else(|| {
            let known: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            context.unknown(&format!("{base}.between[{end}]"), "host or router", name, known)
        })?;
    }
    if ends[0] == ends[1] {
        let message = format!("this link joins `{}` with itself", between[0]);
        return Err(context.wrong(&format!("{base}.between"), message, "two different nodes"));
    }
    Ok(ends)
}

/// The least MTU of a link.
pub(super) const fn least_mtu(family: AddressFamily) -> u32 {
    match family {
        AddressFamily::Ipv4 => LEAST_MTU,
        AddressFamily::Ipv6 => LEAST_IPV6_MTU,
    }
}

/// The MTU of a link, if it can be.
pub(super) fn checked_mtu(context: &Context<'_>, base: &str, mtu: u32) -> Result<u32, ScenarioError> {
    let family = context.address_family();
    let least = least_mtu(family);
    let short = match family {
        AddressFamily::Ipv4 => "is too small for the headers of TCP and its options",
        AddressFamily::Ipv6 => "is less than every link of IPv6 has",
    };
    if (least..=65_535).contains(&mtu) {
        return Ok(mtu);
    }
    let message = if mtu < least {
        format!("an MTU of {mtu} octets {short}")
    } else {
        format!("no IP packet has {mtu} octets")
    };
    Err(context.wrong(&format!("{base}.mtu"), message, format!("{least} to 65535")))
}

/// A value in the file: where it stands, and on which link.
pub(super) struct At<'a> {
    pub(super) context: &'a Context<'a>,
    /// Its key.
    pub(super) key: String,
    /// The link's.
    pub(super) mtu: u32,
}

/// What a file says for a value of a direction.
pub(super) trait Check {
    /// Can it be?
    fn check(&self, _: &At<'_>) -> Result<(), ScenarioError> {
        Ok(())
    }

    /// The value, if it can be.
    fn checked<T: Value<Self>>(&self, at: &At<'_>) -> Result<T, ScenarioError>
    where
        Self: Sized,
    {
        self.check(at)?;
        Ok(T::read(self))
    }
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
    fn get<T: Value<Form>, Form: Check>(
        &self,
        key: &str,
        pick: impl Fn(&DirectionTable) -> Option<&Form>,
    ) -> Result<Option<T>, ScenarioError> {
        let own = self.own.and_then(&pick);
        let own = own.map(|form| (form, format!("{}.{}.{key}", self.base, DIRECTION_KEYS[self.direction])));
        let found = own.or_else(|| pick(&self.both).map(|form| (form, format!("{}.{key}", self.base))));
        let read =
            |(form, key): (&Form, String)| form.checked(&At { context: self.context, key, mtu: self.mtu });
        found.map(read).transpose()
    }
}

/// What becomes of the keys that [`ropewalk_sim::direction_keys`] declares.
macro_rules! direction_values {
    ($($(#[$doc:meta])* $key:ident: $variant:ident($type:ty $(as $form:ty)?) = $default:expr;)*) => {
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
                changes.push(Change::$variant(form.checked(&At { key, ..*at })?));
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

impl Check for Time {}

impl Check for bool {}

impl Check for Chance {}

impl Check for LossTable {
    fn check(&self, at: &At<'_>) -> Result<(), ScenarioError> {
        let LossTable::Exact(table) = self else { return Ok(()) };
        let Some(index) = table.packets.iter().position(|&number| number < 1) else { return Ok(()) };
        let message = format!("there is no data packet number {}", table.packets[index]);
        Err(at.context.wrong(&format!("{}.packets[{index}]", at.key), message, "numbers from 1"))
    }
}

impl Check for JitterTable {
    fn check(&self, at: &At<'_>) -> Result<(), ScenarioError> {
        let JitterTable::Wander(table) = self else { return Ok(()) };
        if table.read().interval.is_zero() {
            let message = "a target is drawn without end in no time";
            return Err(at.context.wrong(&format!("{}.interval", at.key), message, "a time above zero"));
        }
        Ok(())
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
