//! The scenario file, as types. Their doc comments are the help, the JSON Schema's descriptions and the
//! documentation; a key that is not here is an error.

pub(crate) mod bond;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod constants;
pub(crate) mod endpoints;
pub(crate) mod link;
pub(crate) mod mptcp;
pub(crate) mod quantity;
mod reference;
pub(crate) mod router;
pub(crate) mod tagged;
pub(crate) mod tcp;
pub(crate) mod tcp_values;
pub(crate) mod wifi;

use bond::BondTable;
use connection::{ConnectionTable, HostTable, RouteTable};
use endpoints::Names;
use link::LinkTable;
use mptcp::MptcpTable;
use quantity::{Name, Time};
pub use reference::keys_reference;
use router::RouterTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tcp::{Preset, TcpTable};
use wifi::WifiTable;

/// A Ropewalk scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    /// The scenario as a whole.
    pub(crate) scenario: ScenarioTable,
    /// TCP keys of every connection, and of every subflow.
    #[serde(default)]
    pub(crate) tcp: TcpTable,
    /// Multipath TCP keys of every connection.
    #[serde(default)]
    pub(crate) mptcp: MptcpTable,
    /// Hosts by name.
    #[serde(default)]
    pub(crate) hosts: BTreeMap<Name, HostTable>,
    /// Routers by name.
    #[serde(default)]
    pub(crate) routers: BTreeMap<Name, RouterTable>,
    /// Links by name.
    #[serde(default)]
    pub(crate) links: BTreeMap<Name, LinkTable>,
    /// A wireless network: stations, and routes over them, which are links too.
    pub(crate) wifi: Option<WifiTable>,
    /// Bonds of links by name.
    #[serde(default)]
    pub(crate) bonds: BTreeMap<Name, BondTable>,
    /// Static routes.
    #[serde(default)]
    pub(crate) routes: Vec<RouteTable>,
    /// Connections by name.
    #[serde(default)]
    pub(crate) connections: BTreeMap<Name, ConnectionTable>,
}

/// The scenario as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioTable {
    /// Its name: letters, digits, `-` and `_`.
    pub(crate) name: Name,
    /// What it shows, in a sentence or two.
    pub(crate) description: Option<String>,
    /// Simulated time.
    pub(crate) duration: Time,
    /// What all randomness is derived from (default 1).
    pub(crate) seed: Option<u64>,
    /// Distance of the points of the time series (default 100 ms).
    pub(crate) sample_interval: Option<Time>,
}

/// The JSON Schema of scenario files, for editors.
pub fn schema() -> String {
    let mut value = annotated();
    told(&mut value);
    let mut text = serde_json::to_string_pretty(&value).expect("a schema is plain JSON");
    text.push('\n');
    text
}

/// The schema with units (`x-unit`) and what the presets say (`x-presets`) beside the keys that have them.
fn annotated() -> Value {
    let mut schema = schemars::schema_for!(ScenarioFile);
    schema.insert("title".into(), "Ropewalk scenario".into());
    let mut value = schema.to_value();
    without_null(&mut value);
    let presets = [Preset::Linux, Preset::Classic];
    let tcp = presets.map(|preset| json!(TcpTable::explicit(&preset.tcp())));
    let mptcp = presets.map(|preset| json!(MptcpTable::explicit(&preset.mptcp(), &Names::default())));
    let delayed_ack = tcp.each_ref().map(|table| table["delayed_ack"].clone());
    for (table, [linux, classic]) in
        [("TcpTable", tcp), ("MptcpTable", mptcp), ("DelayedAckTable", delayed_ack)]
    {
        let properties = value["$defs"][table]["properties"].as_object_mut();
        for (key, property) in properties.into_iter().flatten() {
            if !(linux[key].is_null() && classic[key].is_null()) {
                property["x-presets"] = json!({ "linux": linux[key], "classic": classic[key] });
            }
        }
    }
    value
}

/// Puts units and presets into the descriptions, which is what editors show.
fn told(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let mut said = String::new();
            if let Some(Value::String(unit)) = object.remove("x-unit") {
                said.push_str(&format!("\nUnit: {}.", unit.replace('_', " ")));
            }
            if let Some(presets) = object.remove("x-presets") {
                said.push_str(&format!("\nlinux: {}, classic: {}.", presets["linux"], presets["classic"]));
            }
            if let (false, Some(Value::String(text))) = (said.is_empty(), object.get_mut("description")) {
                text.push_str(&said);
            }
            object.values_mut().for_each(told);
        }
        Value::Array(items) => items.iter_mut().for_each(told),
        _ => {}
    }
}

/// TOML has no null: a key that is optional is left out.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}
