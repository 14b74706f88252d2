//! Queues: defaults and checks.

use super::context::Context;
use crate::error::ScenarioError;
use crate::schema::link::{CodelTable, FqCodelTable, QueueTable, RedTable};
use crate::schema::quantity::Limit;
use ropewalk_sim::{CodelConfig, FqCodelConfig, Queue, QueueLimit, RedConfig};

/// The queue that `table` describes.
pub(super) fn queue(
    context: &Context<'_>,
    key: &str,
    table: &QueueTable,
    mtu: u32,
) -> Result<Queue, ScenarioError> {
    let limit = |limit: Option<Limit>, packets| limit_of(context, key, limit, packets, mtu);
    Ok(match table {
        QueueTable::DropTail(table) => {
            Queue::DropTail { limit: limit(table.limit, 100)?, mark_above: table.mark_above }
        }
        QueueTable::Red(table) => {
            Queue::Red { limit: limit(table.limit, 100)?, red: red(context, key, table)? }
        }
        QueueTable::Codel(table) => {
            Queue::Codel { limit: limit(table.limit, 1000)?, codel: codel(context, key, table)? }
        }
        QueueTable::FqCodel(table) => {
            Queue::FqCodel { limit: limit(table.limit, 10_240)?, fq_codel: fq_codel(context, key, table)? }
        }
    })
}

fn limit_of(
    context: &Context<'_>,
    key: &str,
    limit: Option<Limit>,
    packets: u32,
    mtu: u32,
) -> Result<QueueLimit, ScenarioError> {
    let limit = limit.map_or(QueueLimit::Packets(packets), |limit| limit.0);
    match limit {
        QueueLimit::Bytes(bytes) if bytes < u64::from(mtu) => {
            let message = format!("a queue of {bytes} octets cannot hold a packet of {mtu} octets");
            Err(context.wrong(&inner(context, key, "limit"), message, "at least the link's MTU"))
        }
        _ => Ok(limit),
    }
}

/// The path of a key of the table at `key`, or that of the table itself if a short form stands there.
fn inner(context: &Context<'_>, key: &str, name: &str) -> String {
    let path = format!("{key}.{name}");
    if context.document.find(&path).is_some() { path } else { key.to_owned() }
}

fn red(context: &Context<'_>, key: &str, table: &RedTable) -> Result<RedConfig, ScenarioError> {
    let red = table.read();
    let RedConfig { min_threshold, max_threshold, weight, .. } = red;
    if !(min_threshold.is_finite() && min_threshold >= 0.0) {
        return Err(context.wrong(
            &inner(context, key, "min_threshold"),
            format!("{min_threshold} is no length of a queue"),
            "a number of packets from 0",
        ));
    }
    if !(max_threshold.is_finite() && max_threshold > min_threshold) {
        return Err(context.wrong(
            &inner(context, key, "max_threshold"),
            format!("{max_threshold} is not above the lower threshold"),
            format!("a number of packets above min_threshold, {min_threshold}"),
        ));
    }
    if !(weight > 0.0 && weight <= 1.0) {
        return Err(context.wrong(
            &inner(context, key, "weight"),
            format!("{weight} is no weight of an average"),
            "a number above 0, at most 1",
        ));
    }
    Ok(red)
}

fn codel(context: &Context<'_>, key: &str, table: &CodelTable) -> Result<CodelConfig, ScenarioError> {
    let codel = table.read();
    for (name, time) in [("target", codel.target), ("interval", codel.interval)] {
        if time.is_zero() {
            let message = format!("CoDel's {name} cannot be zero");
            return Err(context.wrong(&inner(context, key, name), message, "a time above zero"));
        }
    }
    Ok(codel)
}

fn fq_codel(context: &Context<'_>, key: &str, table: &FqCodelTable) -> Result<FqCodelConfig, ScenarioError> {
    let wrong = |name: &str, message: String, expected: &str| {
        Err(context.wrong(&inner(context, key, name), message, expected))
    };
    let fq_codel = table.read();
    if !(1..=65_536).contains(&fq_codel.flows) {
        return wrong("flows", format!("{} flow queues cannot be", fq_codel.flows), "1 to 65536");
    }
    if let Some(octets) = table.quantum.map(|size| size.0.get())
        && !(64..=u64::from(u32::MAX)).contains(&octets)
    {
        return wrong("quantum", format!("a quantum of {octets} octets cannot be"), "64 B to 4 GiB");
    }
    let plain = CodelTable { limit: None, target: table.target, interval: table.interval, ecn: table.ecn };
    Ok(FqCodelConfig { codel: codel(context, key, &plain)?, ..fq_codel })
}
