//! The reference of all keys, as Markdown: written from the JSON Schema, which follows from the declarations.

use super::json_schema::annotated;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write;

const HEAD: &str = "\
# Keys of scenario files

Every table and key, from their declarations. `ROPEWALK_BLESS=1 cargo test -p ropewalk-scenario --test scenarios` writes this
page again. The [guide](../guide.md#the-scenario-file) shows how the tables fit together. A key without a default may be left
out, unless it is required.
";

/// All keys of scenario files as a Markdown page.
pub fn keys_reference() -> String {
    let schema = annotated();
    let mut page =
        Page { schema: &schema, text: HEAD.to_owned(), seen: BTreeSet::new(), waiting: VecDeque::new() };
    let (named, single): (Vec<_>, Vec<_>) =
        object(&schema["properties"]).partition(|(_, property)| by_name(property).is_some());
    for (key, property) in single.into_iter().chain(named) {
        page.property(key, property);
        while let Some((path, name)) = page.waiting.pop_front() {
            page.definition(&path, name);
        }
    }
    page.names();
    page.text
}

struct Page<'a> {
    schema: &'a Value,
    text: String,
    /// Definitions that have a section, or will have one.
    seen: BTreeSet<&'a str>,
    /// Sections to come: paths and definitions.
    waiting: VecDeque<(String, &'a str)>,
}

impl<'a> Page<'a> {
    /// A key whose value is a table, or tables, gets a section.
    fn property(&mut self, path: &str, property: &'a Value) {
        let (path, inner) = match (by_name(property), &property["items"]) {
            (Some(inner), _) => (format!("{path}.NAME"), inner),
            (None, items @ Value::Object(_)) => (format!("[{path}]"), items),
            _ => (path.to_owned(), property),
        };
        if let Some(name) = reference(inner) {
            self.waiting.push_back((path, name));
        }
    }

    fn definition(&mut self, path: &str, name: &'a str) {
        let definition = &self.schema["$defs"][name];
        let variants = definition["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        let has_tables = variants.iter().any(|variant| variant.get("properties").is_some());
        if !(definition.get("properties").is_some() || has_tables) || !self.seen.insert(name) {
            return;
        }
        let _ = writeln!(self.text, "\n## `[{path}]`\n\n{}", line(definition));
        let mut inner = Vec::new();
        if has_tables {
            for variant in variants.iter().filter(|variant| variant.get("properties").is_some()) {
                let (tag, tag_name) = tag(variant);
                let _ = writeln!(self.text, "\n`{tag} = \"{tag_name}\"`: {}", line(variant));
                self.table(variant, Some(tag));
                inner.extend(object(&variant["properties"]));
            }
        } else {
            self.table(definition, None);
            inner.extend(object(&definition["properties"]));
        }
        for (key, property) in inner {
            self.property(&format!("{}.{key}", path.trim_matches(['[', ']'])), property);
        }
    }

    /// One row per key, that of the tag left out.
    fn table(&mut self, table: &Value, tag: Option<&str>) {
        let keys = || object(&table["properties"]).filter(|(key, _)| Some(key.as_str()) != tag);
        if keys().next().is_none() {
            return;
        }
        let has_presets = keys().any(|(_, property)| property.get("x-presets").is_some());
        let columns = if has_presets { "linux | classic" } else { "default" };
        let rule = if has_presets { "---|---" } else { "---" };
        let _ = writeln!(self.text, "\n| key | value | {columns} | meaning |\n|---|---|{rule}|---|");
        let required: Vec<&str> = list(&table["required"]).filter_map(Value::as_str).collect();
        for (key, property) in keys() {
            let default = match (has_presets, property.get("x-presets")) {
                (true, Some(presets)) => {
                    format!("{} | {}", code(&presets["linux"]), code(&presets["classic"]))
                }
                (true, None) => " | ".to_owned(),
                _ if required.contains(&key.as_str()) => "required".to_owned(),
                _ => property.get("default").map_or_else(String::new, code),
            };
            let (value, meaning) = (self.value(property), line(property));
            let _ = writeln!(self.text, "| `{key}` | {value} | {default} | {meaning} |");
        }
    }

    /// What may stand behind a key, in a few words.
    fn value(&self, property: &Value) -> String {
        if let Some(name) = reference(property) {
            return self.value_of(name);
        }
        let unit = property["x-unit"].as_str().map(|unit| format!(", {}", unit.replace('_', " ")));
        let plain = match property["type"].as_str() {
            Some("boolean") => "true or false".to_owned(),
            Some("integer") => "whole number".to_owned(),
            Some("number") => "number".to_owned(),
            Some("string") => "text".to_owned(),
            Some("array") => format!("list: {}", self.value(&property["items"])),
            Some("object") => match by_name(property) {
                Some(inner) => format!("by name: {}", self.value(inner)),
                None => "table".to_owned(),
            },
            _ => property.get("const").map_or_else(String::new, code),
        };
        let is_number = matches!(property["type"].as_str(), Some("integer" | "number"));
        plain + &unit.filter(|_| is_number).unwrap_or_default()
    }

    fn value_of(&self, name: &str) -> String {
        let definition = &self.schema["$defs"][name];
        let names: Vec<String> = list(&definition["oneOf"]).map(|choice| code(&choice["const"])).collect();
        if !names.is_empty() {
            return names.join(", ");
        }
        if definition["type"] == "object" {
            return "table".to_owned();
        }
        let variants: Vec<&Value> = list(&definition["anyOf"]).collect();
        if !variants.is_empty() {
            let mut words: Vec<String> = Vec::new();
            for variant in variants {
                let word = match (&variant["enum"], variant.get("properties")) {
                    (Value::Array(names), _) => names.iter().map(code).collect::<Vec<_>>().join(", "),
                    (_, Some(_)) => "table".to_owned(),
                    _ => self.value(variant),
                };
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            return words.join("; ");
        }
        let example = list(&definition["examples"]).next().map(|example| format!(", as `{example}`"));
        let words = name.chars().fold(String::new(), |mut words, letter| {
            words.extend((letter.is_uppercase() && !words.is_empty()).then_some(' '));
            words.extend(letter.to_lowercase());
            words
        });
        format!("{words}{}", example.unwrap_or_default())
    }

    /// What the names stand for that some keys have as their values.
    fn names(&mut self) {
        let _ = writeln!(self.text, "\n## Names\n\n| key's value | meaning |\n|---|---|");
        for (_, definition) in object(&self.schema["$defs"]) {
            for choice in list(&definition["oneOf"]) {
                let (name, meaning) = (code(&choice["const"]), line(choice));
                let _ =
                    writeln!(self.text, "| {name} | {}: {meaning} |", line(definition).trim_end_matches('.'));
            }
        }
    }
}

/// The tag of a variant and the variant's name.
fn tag(variant: &Value) -> (&str, &str) {
    let tagged = object(&variant["properties"])
        .find_map(|(key, property)| property["const"].as_str().map(|name| (key.as_str(), name)));
    tagged.unwrap_or_default()
}

/// What stands behind each name, of a table whose keys are names.
fn by_name(schema: &Value) -> Option<&Value> {
    object(&schema["patternProperties"]).map(|(_, inner)| inner).next()
}

/// The definition that a schema names, alone or as one of its alternatives.
fn reference(schema: &Value) -> Option<&str> {
    let own = schema["$ref"].as_str();
    let named = || list(&schema["anyOf"]).find_map(|choice| choice["$ref"].as_str());
    own.or_else(named)?.strip_prefix("#/$defs/")
}

fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A description on one line.
fn line(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn code(value: &Value) -> String {
    if value.is_null() { String::new() } else { format!("`{}`", inline(value)).replace('|', "\\|") }
}

/// A value as a TOML file says it on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let said = table.iter().filter(|(_, value)| !value.is_null());
            let pairs: Vec<String> = said.map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
