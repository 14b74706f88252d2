//! The JSON Schema of scenario files.

use super::ScenarioFile;
use super::endpoints::Names;
use super::mptcp::MptcpTable;
use super::tcp::{Preset, TcpTable};
use serde_json::{Value, json};

/// The JSON Schema of scenario files, for editors.
pub fn schema() -> String {
    let mut value = annotated();
    into_descriptions(&mut value);
    let mut text = serde_json::to_string_pretty(&value).expect("a schema is plain JSON");
    text.push('\n');
    text
}

/// The schema with units (`x-unit`) and what the presets say (`x-presets`) beside the keys that have them.
pub(super) fn annotated() -> Value {
    let mut schema = schemars::schema_for!(ScenarioFile);
    schema.insert("title".into(), "Ropewalk scenario".into());
    let mut value = schema.to_value();
    without_null(&mut value);
    let presets = [Preset::Linux, Preset::Classic];
    let tcp = presets.map(|preset| json!(TcpTable::explicit(&preset.tcp())));
    let mptcp = presets.map(|preset| json!(MptcpTable::explicit(&preset.mptcp(), &Names::default())));
    let delayed_ack = tcp.each_ref().map(|table| table["delayed_ack"].clone());
    let quirks = tcp.each_ref().map(|table| table["quirks"].clone());
    for (table, [linux, classic]) in
        [("TcpTable", tcp), ("MptcpTable", mptcp), ("DelayedAckTable", delayed_ack), ("QuirksTable", quirks)]
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
fn into_descriptions(schema: &mut Value) {
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
            object.values_mut().for_each(into_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(into_descriptions),
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
            if let Some(Value::Object(default)) = object.get_mut("default") {
                default.retain(|_, value| !value.is_null());
            }
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            object.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}
