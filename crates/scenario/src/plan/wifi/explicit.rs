//! The table that would say everything.

use super::{BroadcastPlan, MobilityPlan, WifiPlan};
use crate::schema::link::{BernoulliTable, NoKeys};
use crate::schema::quantity::{
    BitRate, BufferSize, Chance, Coordinate, Decibels, Length, Limit, Name, Point, Power, Size, Time,
};
use crate::schema::table::Value as _;
use crate::schema::wifi::{
    AlgorithmName, BroadcastTable, ConditionName, DataRate, DeploymentTable, DiskTable, ErrorsTable,
    FindTable, FrameLossTable, GaussMarkovTable, GridLayoutTable, LayoutTable, LogDistanceTable, MetricName,
    MobilityTable, PerName, PreambleName, PropagationTable, RandomWaypointTable, StandardName, StationTable,
    TieName, WifiTable, WirelessRouteTable,
};
use ropewalk_sim::QueueLimit;
use ropewalk_units::{Bytes, Duration, Instant, Probability, Rate as Bits};
use ropewalk_wifi::RateControl;
use ropewalk_wifi::phy::{Rate, Standard};
use ropewalk_wifi::propagation::Propagation;

/// `table` with every default written out.
pub(crate) fn explicit(table: &WifiTable, plan: &WifiPlan) -> Option<WifiTable> {
    let mac = &plan.mac;
    let (standard, preamble) = match mac.standard {
        Standard::Dsss { short_preamble: false } => (StandardName::B, Some(PreambleName::Long)),
        Standard::Dsss { short_preamble: true } => (StandardName::B, Some(PreambleName::Short)),
        Standard::OfdmA => (StandardName::A, None),
        Standard::OfdmG => (StandardName::G, None),
    };
    Some(WifiTable {
        standard: Some(standard),
        preamble,
        data_rate: Some(match mac.rate {
            RateControl::Fixed(rate) => DataRate::Fixed(bits(rate)),
            RateControl::Minstrel { .. } => DataRate::Minstrel,
        }),
        basic_rates: Some(mac.basic_rates.iter().map(bits).collect()),
        ack_rate: mac.control_rate.map(bits),
        broadcast_rate: mac.broadcast_rate.map(bits),
        rts_threshold: table.rts_threshold,
        short_retry_limit: Some(mac.short_retry_limit),
        long_retry_limit: Some(mac.long_retry_limit),
        cw_min: mac.cw_min,
        cw_max: mac.cw_max,
        response_timeout: table.response_timeout,
        queue: mac.queue_limit.map(|packets| Limit(QueueLimit::Packets(packets))),
        lifetime: table.lifetime,
        propagation: propagation(&plan.propagation)?,
        propagation_delay: Some(plan.propagation_delay),
        recapture: Some(plan.recapture),
        channels: Some(plan.channels.clone()),
        stations: stations(plan),
        deployment: table.deployment.as_ref().map(|given| deployment(given, plan)),
        mobility: mobility(&plan.mobility),
        movement: table.movement.clone(),
        update_interval: Some(Time(plan.update_interval)),
        route_interval: plan.route_interval.map(Time),
        routes: table
            .routes
            .iter()
            .zip(&plan.routes)
            .map(|((name, given), route)| (name.clone(), self::route(given, &route.channels)))
            .collect(),
        errors: table.errors.iter().map(errors).collect(),
        broadcasts: plan.broadcasts.iter().map(broadcast).collect(),
    })
}

fn bits(rate: Rate) -> BitRate {
    BitRate(Bits::from_bits_per_sec(rate.bits_per_sec()))
}

fn propagation(propagation: &Propagation) -> Option<PropagationTable> {
    Some(match propagation {
        Propagation::Disk(disk) => PropagationTable::Disk(DiskTable::show(disk)?),
        Propagation::LogDistance(model) => PropagationTable::LogDistance(LogDistanceTable {
            power: Some(Power(model.power_dbm)),
            exponent: Some(model.exponent),
            reference_loss: Some(Decibels(model.reference_loss_db)),
            reference_distance: Some(Length(model.reference_distance)),
            shadowing: Some(Decibels(model.shadowing_db)),
            noise: Some(Power(model.receiver.noise_dbm)),
            carrier_sense: Some(Power(model.receiver.carrier_sense_dbm)),
        }),
    })
}

fn stations(plan: &WifiPlan) -> std::collections::BTreeMap<Name, StationTable> {
    let scripted = |name: &String| plan.movement.as_ref().is_some_and(|file| file.stations.contains(name));
    let table = |station: &super::StationPlan| StationTable {
        position: station.position.map(|at| Point([Coordinate(at.x), Coordinate(at.y)])),
        channels: Some(station.channels.clone()),
        mobility: mobility(&station.mobility).filter(|_| !scripted(&station.name)),
    };
    plan.stations.iter().map(|station| (Name(station.name.clone()), table(station))).collect()
}

fn mobility(plan: &MobilityPlan) -> Option<MobilityTable> {
    Some(match plan {
        MobilityPlan::None => MobilityTable::None(NoKeys {}),
        MobilityPlan::RandomWaypoint(model) => {
            MobilityTable::RandomWaypoint(RandomWaypointTable::show(model)?)
        }
        MobilityPlan::GaussMarkov(model) => MobilityTable::GaussMarkov(GaussMarkovTable::show(model)?),
    })
}

fn broadcast(plan: &BroadcastPlan) -> (Name, BroadcastTable) {
    let names = |names: &Vec<String>| names.iter().cloned().map(Name).collect();
    let table = BroadcastTable {
        from: plan.from.as_ref().map(names),
        channel: Some(plan.channel),
        packet_size: Some(Size(Bytes::new(u64::from(plan.packet)))),
        interval: plan.interval.show(),
        start: Some(Time(plan.start - Instant::ZERO)),
        spread: Some(Time(plan.spread)),
        duration: plan.duration.map(Time),
    };
    (Name(plan.name.clone()), table)
}

fn deployment(given: &DeploymentTable, plan: &WifiPlan) -> DeploymentTable {
    let layout = match &given.layout {
        LayoutTable::Grid(grid) => {
            LayoutTable::Grid(GridLayoutTable { jitter: Some(grid.jitter.unwrap_or(0.0)), ..grid.clone() })
        }
        other => other.clone(),
    };
    let is_drawn = !matches!(layout, LayoutTable::File(_));
    let draws = plan.deployment.as_ref().map(|deployment| deployment.draws);
    DeploymentTable {
        layout,
        until: is_drawn.then(|| given.until.unwrap_or(ConditionName::Connected)),
        ties: Some(given.ties.unwrap_or(TieName::LowestNode)),
        draws,
        ..given.clone()
    }
}

fn route(given: &WirelessRouteTable, channels: &[u8]) -> WirelessRouteTable {
    let find = given.find.as_ref().map(|find| FindTable {
        algorithm: Some(find.algorithm.unwrap_or(AlgorithmName::Shortest)),
        number: Some(find.number.unwrap_or(1)),
        ties: Some(find.ties.unwrap_or(TieName::LowestNode)),
        metric: Some(find.metric.unwrap_or(MetricName::Hops)),
        ..find.clone()
    });
    WirelessRouteTable {
        via: find.is_none().then(|| given.via.clone().unwrap_or_default()),
        find,
        channel: if given.channels.is_some() { None } else { channels.first().copied() },
        mtu: Some(given.mtu.unwrap_or(crate::schema::link::DEFAULT_MTU)),
        ..given.clone()
    }
}

fn errors(given: &ErrorsTable) -> ErrorsTable {
    ErrorsTable {
        both_ways: Some(given.both_ways.unwrap_or(false)),
        above: Some(given.above.unwrap_or(BufferSize(0))),
        loss: loss(&given.loss),
        ..given.clone()
    }
}

fn loss(given: &FrameLossTable) -> FrameLossTable {
    let per = |per: Option<PerName>| Some(per.unwrap_or(PerName::Attempt));
    let step = |per: Option<PerName>, step: Option<Time>| match per {
        Some(PerName::Time) => Some(step.unwrap_or(Time(Duration::from_millis(1)))),
        _ => None,
    };
    match given.clone() {
        FrameLossTable::Bernoulli(BernoulliTable { probability }) if probability.0 == Probability::ZERO => {
            FrameLossTable::None(NoKeys {})
        }
        FrameLossTable::Bursts(mut table) => {
            (table.step, table.per) = (step(table.per, table.step), per(table.per));
            FrameLossTable::Bursts(table)
        }
        FrameLossTable::GilbertElliott(mut table) => {
            (table.step, table.per) = (step(table.per, table.step), per(table.per));
            table.loss_good = Some(table.loss_good.unwrap_or(Chance(Probability::ZERO)));
            table.loss_bad = table.loss_bad.or_else(|| Probability::new(1.0).map(Chance));
            FrameLossTable::GilbertElliott(table)
        }
        other => other,
    }
}
