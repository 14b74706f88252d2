//! A bond's keys as the configuration of its gateways, and back.

use crate::error::ScenarioError;
use crate::plan::context::Context;
use crate::plan::{BondPlan, LinkPlan, PathPlan};
use crate::schema::bond::{
    ArithmeticName, BondTable, ClassTable, CostFirstTable, FlowAwareTable, KeepaliveTable, LossUnitName,
    MemberFields, MemberTable, OrderName, PaceName, ResequencerTable, SchedulerTable, Treatment, TurnsName,
    WeightedRoundRobinTable,
};
use crate::schema::link::NoKeys;
use crate::schema::quantity::{Name, Time};
use ropewalk_bonding::{
    Class, Config, ConfigError, CostFirstConfig, DecrementPace, FlowAwareConfig, KeepaliveConfig, LossUnit,
    Order, PathConfig, PathId, ResequencerConfig, SchedulerConfig, Turns, WeightArithmetic, WrrConfig,
};
use ropewalk_units::Duration;

/// What both gateways of a bond run; `base` is the table's place in the file.
pub(super) fn config(context: &Context<'_>, base: &str, table: &BondTable) -> Result<Config, ScenarioError> {
    let paths = table.paths.iter().map(|member| {
        let MemberFields { link, via: _, cost, weight, max_weight } = member.fields().clone();
        PathConfig { name: link.0, cost, weight, max_weight }
    });
    let mut config = Config::new(paths.collect(), scheduler(table.scheduler.as_ref()));
    config.order = match table.order {
        None | Some(OrderName::PerFlow) => Order::PerFlow,
        Some(OrderName::Global) => Order::Global,
        Some(OrderName::Off) => Order::Off,
    };
    set_time(&mut config.report_interval, table.report_interval);
    set_time(&mut config.loss_timeout, table.loss_timeout);
    set(&mut config.repair, table.repair);
    resequencer(&mut config.resequencer, &table.resequencer);
    keepalive(&mut config.keepalive, &table.keepalive);
    config.validate().map_err(|error| refused(context, base, table, &error))?;
    // A default that is said is the same plan.
    config.paths = (0..config.paths.len()).map(|place| config.explicit_path(PathId(place as u8))).collect();
    Ok(config)
}

/// Does a costlier path of weighted round robin begin with a weight?
pub(super) fn has_first_weights(config: &Config) -> bool {
    let cheapest = config.paths.iter().map(|path| path.cost).min().flatten();
    let has_one = |path: &PathConfig| path.cost > cheapest && path.weight > Some(0);
    matches!(config.scheduler, SchedulerConfig::WeightedRoundRobin(_)) && config.paths.iter().any(has_one)
}

fn set_time(value: &mut Duration, given: Option<Time>) {
    if let Some(time) = given {
        *value = time.0;
    }
}

fn set<T: Copy>(value: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *value = given;
    }
}

/// The core names a path by its name, the file by its place.
fn refused(context: &Context<'_>, base: &str, table: &BondTable, error: &ConfigError) -> ScenarioError {
    let mut key = error.key().to_owned();
    let mut subject = format!("`{}`", leaf(error.key()));
    for (index, member) in table.paths.iter().enumerate() {
        let name = member.fields().link.as_str();
        if let Some(field) = error.key().strip_prefix(&format!("paths.{name}.")) {
            key = format!("paths[{index}].{field}");
            subject = format!("`{field}` of the path `{name}`");
        }
    }
    let key = format!("{base}.{key}");
    let message = match (context.document.find(&key), error.conflict()) {
        (Some(_), _) => format!("{subject} cannot be used"),
        (None, None) => format!("{subject} is missing"),
        (None, Some(conflict)) => {
            let (value, with) = (&conflict.value, leaf(conflict.with));
            format!("{subject} is not given, and its default ({value}) conflicts with `{with}`")
        }
    };
    context.wrong(&key, message, error.expected())
}

/// The last part of a dotted key.
fn leaf(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, leaf)| leaf)
}

fn scheduler(table: Option<&SchedulerTable>) -> SchedulerConfig {
    match table {
        None => SchedulerConfig::RateAware,
        Some(SchedulerTable::WeightedRoundRobin(table)) => SchedulerConfig::WeightedRoundRobin(wrr(table)),
        Some(SchedulerTable::CostFirst(table)) => {
            let mut config = CostFirstConfig::default();
            set_time(&mut config.queue_target, table.queue_target);
            SchedulerConfig::CostFirst(config)
        }
        Some(SchedulerTable::RateAware(_)) => SchedulerConfig::RateAware,
        Some(SchedulerTable::Redundant(_)) => SchedulerConfig::Redundant,
        Some(SchedulerTable::FlowAware(table)) => {
            let mut config = FlowAwareConfig::default();
            set_time(&mut config.queue_target, table.queue_target);
            set_time(&mut config.idle_after, table.idle_after);
            SchedulerConfig::FlowAware(config)
        }
    }
}

fn wrr(table: &WeightedRoundRobinTable) -> WrrConfig {
    let mut config = WrrConfig::default();
    set(&mut config.gain, table.gain);
    set_time(&mut config.decrement_delay, table.decrement_delay);
    let unit = |name| match name {
        LossUnitName::Packets => LossUnit::Packets,
        LossUnitName::Bytes => LossUnit::Bytes,
    };
    let arithmetic = |name| match name {
        ArithmeticName::Whole => WeightArithmetic::Whole,
        ArithmeticName::Rounded => WeightArithmetic::Rounded,
        ArithmeticName::Fractional => WeightArithmetic::Fractional,
    };
    let turns = |name| match name {
        TurnsName::Spread => Turns::Spread,
        TurnsName::Consecutive => Turns::Consecutive,
    };
    let pace = |name| match name {
        PaceName::EachReport => DecrementPace::EachReport,
        PaceName::EachDelay => DecrementPace::EachDelay,
    };
    set(&mut config.decrement_pace, table.decrement_pace.map(pace));
    set(&mut config.loss_unit, table.loss_unit.map(unit));
    set(&mut config.arithmetic, table.arithmetic.map(arithmetic));
    set(&mut config.turns, table.turns.map(turns));
    config
}

fn resequencer(config: &mut ResequencerConfig, table: &ResequencerTable) {
    config.timeout = table.timeout.map(|time| time.0);
    set_time(&mut config.min_timeout, table.min_timeout);
    set_time(&mut config.max_timeout, table.max_timeout);
    set(&mut config.max_packets, table.max_packets);
    set(&mut config.flow_buckets, table.flow_buckets);
    set(&mut config.path_reordering, table.path_reordering);
}

fn keepalive(config: &mut KeepaliveConfig, table: &KeepaliveTable) {
    set_time(&mut config.interval, table.interval);
    set_time(&mut config.suspect_after, table.suspect_after);
    set_time(&mut config.down_after, table.down_after);
    set(&mut config.answers_to_return, table.answers_to_return);
}

/// The core's word for a treatment.
pub(super) const fn class(treatment: Treatment) -> Class {
    match treatment {
        Treatment::Normal => Class::Normal,
        Treatment::Unordered => Class::Unordered,
        Treatment::Duplicated => Class::Duplicated,
        Treatment::DuplicatedUnordered => Class::DuplicatedUnordered,
    }
}

const fn treatment(class: Class) -> Treatment {
    match class {
        Class::Normal => Treatment::Normal,
        Class::Unordered => Treatment::Unordered,
        Class::Duplicated => Treatment::Duplicated,
        Class::DuplicatedUnordered => Treatment::DuplicatedUnordered,
    }
}

/// The table that would say everything.
pub(crate) fn explicit(between: [Name; 2], bond: &BondPlan, links: &[LinkPlan]) -> BondTable {
    let config = &bond.config;
    let member = |(place, path): (usize, &PathPlan)| {
        let PathConfig { name, cost, weight, max_weight } = config.explicit_path(PathId(place as u8));
        let via: Vec<Name> =
            path.forward[1..].iter().map(|&(link, _)| Name(links[link].name.clone())).collect();
        let via = (!via.is_empty()).then_some(via);
        MemberTable::explicit(MemberFields { link: Name(name), via, cost, weight, max_weight })
    };
    let class = |&(dscp, class): &(u8, Class)| ClassTable { dscp, treatment: treatment(class) };
    let order = match config.order {
        Order::PerFlow => OrderName::PerFlow,
        Order::Global => OrderName::Global,
        Order::Off => OrderName::Off,
    };
    let (resequencer, keepalive) = (&config.resequencer, &config.keepalive);
    BondTable {
        between,
        paths: bond.paths.iter().enumerate().map(member).collect(),
        scheduler: Some(explicit_scheduler(&config.scheduler)),
        order: Some(order),
        resequencer: ResequencerTable {
            timeout: resequencer.timeout.map(Time),
            min_timeout: Some(Time(resequencer.min_timeout)),
            max_timeout: Some(Time(resequencer.max_timeout)),
            max_packets: Some(resequencer.max_packets),
            flow_buckets: Some(resequencer.flow_buckets),
            path_reordering: Some(resequencer.path_reordering),
        },
        report_interval: Some(Time(config.report_interval)),
        loss_timeout: Some(Time(config.loss_timeout)),
        repair: Some(config.repair),
        keepalive: KeepaliveTable {
            interval: Some(Time(keepalive.interval)),
            suspect_after: Some(Time(keepalive.suspect_after)),
            down_after: Some(Time(keepalive.down_after)),
            answers_to_return: Some(keepalive.answers_to_return),
        },
        run_up: Some(Time(bond.run_up)),
        classes: bond.classes.iter().map(class).collect(),
    }
}

fn explicit_scheduler(config: &SchedulerConfig) -> SchedulerTable {
    match config {
        SchedulerConfig::WeightedRoundRobin(config) => {
            let loss_unit = match config.loss_unit {
                LossUnit::Packets => LossUnitName::Packets,
                LossUnit::Bytes => LossUnitName::Bytes,
            };
            let arithmetic = match config.arithmetic {
                WeightArithmetic::Whole => ArithmeticName::Whole,
                WeightArithmetic::Rounded => ArithmeticName::Rounded,
                WeightArithmetic::Fractional => ArithmeticName::Fractional,
            };
            let pace = match config.decrement_pace {
                DecrementPace::EachReport => PaceName::EachReport,
                DecrementPace::EachDelay => PaceName::EachDelay,
            };
            let turns = match config.turns {
                Turns::Spread => TurnsName::Spread,
                Turns::Consecutive => TurnsName::Consecutive,
            };
            SchedulerTable::WeightedRoundRobin(WeightedRoundRobinTable {
                gain: Some(config.gain),
                decrement_delay: Some(Time(config.decrement_delay)),
                decrement_pace: Some(pace),
                loss_unit: Some(loss_unit),
                arithmetic: Some(arithmetic),
                turns: Some(turns),
            })
        }
        SchedulerConfig::CostFirst(config) => {
            SchedulerTable::CostFirst(CostFirstTable { queue_target: Some(Time(config.queue_target)) })
        }
        SchedulerConfig::RateAware => SchedulerTable::RateAware(NoKeys {}),
        SchedulerConfig::Redundant => SchedulerTable::Redundant(NoKeys {}),
        SchedulerConfig::FlowAware(config) => SchedulerTable::FlowAware(FlowAwareTable {
            queue_target: Some(Time(config.queue_target)),
            idle_after: Some(Time(config.idle_after)),
        }),
    }
}
