//! One direction of a link, and a change of it, in words.

use crate::schema::link::{ChangeTable, Direction, DirectionTable};
use crate::schema::quantity::{Limit, Time};
use ropewalk_sim::{Change, DirectionConfig, Jitter, Loss, Queue};
use ropewalk_units::{Duration, Probability, Rate};
use serde::Serialize;
use serde_json::{Map, Value};

/// Keys that have words of their own, and `reorder`, which is not drawn. All others stand as in a file.
const OWN_WORDS: [&str; 8] = ["rate", "trace", "delay", "jitter", "reorder", "duplicate", "loss", "queue"];

/// To two digits behind the point.
pub(super) fn round_rate(rate: Rate) -> String {
    format!("{:.2} Mbit/s", rate.as_mbps())
}

/// The keys of a direction in words.
pub(super) fn direction(config: &DirectionConfig) -> String {
    let DirectionConfig { rate, trace, delay, jitter: random, duplicate, loss: model, queue: waits, .. } =
        config;
    let mut parts = Vec::new();
    match trace {
        Some(trace) => {
            let count = trace.opportunities_ms.len();
            parts.push(format!("trace of {count} packets, {} on average", round_rate(*rate)));
        }
        None => parts.push(rate.to_string()),
    }
    parts.push(delay.to_string());
    parts.extend(jitter(*random));
    parts.push(queue(waits));
    parts.extend(loss(model));
    if *duplicate != Probability::ZERO {
        parts.push(format!("duplicates {duplicate}"));
    }
    parts.extend(others(config));
    parts.join(", ")
}

fn jitter(jitter: Jitter) -> Option<String> {
    match jitter {
        Jitter::None => None,
        Jitter::Uniform(max) => Some(format!("jitter 0 to {max}")),
        Jitter::Normal(deviation) => Some(format!("jitter normal {deviation}")),
        Jitter::Exponential(mean) => Some(format!("jitter exponential {mean}")),
        Jitter::Wander { max, interval } => {
            Some(format!("wandering by up to {max} (target each {interval})"))
        }
    }
}

fn queue(queue: &Queue) -> String {
    match queue {
        Queue::DropTail { limit, mark_above: None } => format!("drop-tail {}", Limit(*limit)),
        Queue::DropTail { limit, mark_above: Some(mark) } => {
            format!("drop-tail {} marking from {mark} packets", Limit(*limit))
        }
        Queue::Red { limit, red } => {
            format!("RED {} to {} packets of {}", red.min_threshold, red.max_threshold, Limit(*limit))
        }
        Queue::Codel { limit, codel } => format!("CoDel {} of {}", codel.target, Limit(*limit)),
        Queue::FqCodel { limit, fq_codel } => {
            format!("FQ-CoDel {} of {}", fq_codel.codel.target, Limit(*limit))
        }
    }
}

fn loss(loss: &Loss) -> Option<String> {
    match loss {
        Loss::None => None,
        Loss::Bernoulli(probability) => Some(format!("loss {probability}")),
        Loss::BitErrors(probability) => Some(format!("bit errors {}", probability.get())),
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            Some(format!("loss in bursts (p {good_to_bad}, r {bad_to_good}, {loss_good} / {loss_bad})"))
        }
        Loss::Exact(packets) => {
            let shown: Vec<String> = packets.iter().take(5).map(u64::to_string).collect();
            let more = if packets.len() > 5 { ", …" } else { "" };
            Some(format!("loses data packets {}{more}", shown.join(", ")))
        }
    }
}

/// A change in words.
pub(super) fn describe_change(change: &Change) -> String {
    match change {
        Change::Rate(rate) => rate.to_string(),
        Change::Trace(None) => "no trace".to_owned(),
        Change::Trace(Some(trace)) => format!("trace of {} packets", trace.opportunities_ms.len()),
        Change::Reorder(true) => "jitter may reorder".to_owned(),
        Change::Reorder(false) => "jitter keeps the order".to_owned(),
        Change::DownLosesInFlight(true) => "loses what is on its way when it goes down".to_owned(),
        Change::DownLosesInFlight(false) => "what is on its way arrives when it goes down".to_owned(),
        Change::Duplicate(probability) => format!("duplicates {probability}"),
        Change::Jitter(config) => jitter(*config).unwrap_or_else(|| "no jitter".to_owned()),
        Change::Loss(config) => loss(config).unwrap_or_else(|| "no loss".to_owned()),
        Change::Queue(config) => queue(config),
        Change::Down => "down".to_owned(),
        Change::Up => "up".to_owned(),
        other => changed_key(other),
    }
}

/// The keys without words of their own, where they say something else than their defaults.
fn others(config: &DirectionConfig) -> Vec<String> {
    let keys = |config: &DirectionConfig| said(&DirectionTable::explicit(config, |_| None));
    let plain = keys(&DirectionConfig::new(config.rate));
    let drawn = |key: &str, value: &Value| OWN_WORDS.contains(&key) || plain.get(key) == Some(value);
    let others = keys(config).into_iter().filter(|(key, value)| !drawn(key, value));
    others.map(|(key, value)| as_in_file(&key, &value)).collect()
}

/// The key that a change changes.
fn changed_key(change: &Change) -> String {
    let table = ChangeTable::explicit(Time(Duration::ZERO), Direction::Forward, change, |_| None);
    let keys = said(&table).into_iter().filter(|(key, _)| key != "at" && key != "direction");
    keys.map(|(key, value)| as_in_file(&key, &value)).collect::<Vec<_>>().join(", ")
}

/// The keys of a table that are given.
fn said(table: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(mut keys)) = serde_json::to_value(table) else { return Map::new() };
    keys.retain(|_, value| !value.is_null());
    keys
}

fn as_in_file(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{key} {text}"),
        other => format!("{key} {other}"),
    }
}
