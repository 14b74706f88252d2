//! Nodes to the schema's types, through serde, with the place and the path of every mistake.

use super::words::one_of;
use super::{Entry, Node, Origin, Table, Value};
use crate::suggest;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::fmt;

/// First character of the name under which a tagged enum deserialises; the rest is the tag's key.
const TAGGED: char = '#';

/// A mistake whose place is filled in on the way up.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(super) origin: Option<Origin>,
    /// Innermost first.
    path: Vec<String>,
    pub(super) message: String,
    pub(super) expected: String,
    pub(super) suggestion: Option<Box<str>>,
    pub(crate) kind: FaultKind,
}

/// What is wrong at the end of a fault's path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultKind {
    /// The value.
    Value,
    /// The key's name.
    Key,
    /// The key is missing.
    Missing,
}

impl Fault {
    pub(crate) fn new(path: &str, message: impl Into<String>, expected: impl Into<String>) -> Self {
        let path = if path.is_empty() { Vec::new() } else { vec![path.to_owned()] };
        Self {
            origin: None,
            path,
            message: message.into(),
            expected: expected.into(),
            suggestion: None,
            kind: FaultKind::Value,
        }
    }

    pub(crate) fn suggest(mut self, suggestion: Option<String>) -> Self {
        self.suggestion = suggestion.map(Box::from);
        self
    }

    /// Places the fault, unless it has its place already.
    pub(crate) fn at(mut self, origin: Origin) -> Self {
        self.origin.get_or_insert(origin);
        self
    }

    pub(crate) fn within(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }

    /// The dotted path.
    pub(crate) fn key(&self) -> String {
        let mut key = String::new();
        for segment in self.path.iter().rev() {
            if !key.is_empty() && !segment.starts_with('[') {
                key.push('.');
            }
            key.push_str(segment);
        }
        key
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new("", message.to_string(), "")
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new("", format!("{} does not fit here", describe(&found)), plain(expected))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (expected, suggestion) = suggest::without_hint(plain(expected));
        Self::new("", format!("{} does not fit here", describe(&found)), expected).suggest(suggestion)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::new("", format!("this list has {length} values"), plain(expected))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new("", format!("`{variant}` is not known here"), one_of(expected.iter().copied()))
            .suggest(suggest::nearest(variant, expected.iter().copied()))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let fault = Self::new("", format!("unknown key `{field}`"), one_of(expected.iter().copied()))
            .suggest(suggest::nearest(field, expected.iter().copied()));
        Self { kind: FaultKind::Key, ..fault }
    }

    fn missing_field(field: &'static str) -> Self {
        let fault = Self::new(field, format!("the key `{field}` is missing"), format!("a key `{field}`"));
        Self { kind: FaultKind::Missing, ..fault }
    }
}

fn describe(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(truth) => format!("`{truth}`"),
        Unexpected::Unsigned(number) => format!("the number `{number}`"),
        Unexpected::Signed(number) => format!("the number `{number}`"),
        Unexpected::Float(number) => format!("the number `{number}`"),
        Unexpected::Str(text) => format!("`{text:?}`"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Other(what) => (*what).to_owned(),
        other => other.to_string(),
    }
}

/// What serde expects, in words that mean something to the author of a TOML file.
fn plain(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "u8" => "a whole number from 0 to 255".into(),
        "u16" => "a whole number from 0 to 65535".into(),
        "u32" => "a whole number from 0 to 4294967295".into(),
        "u64" => "a whole number, not negative".into(),
        "f64" => "a number".into(),
        "a boolean" => "`true` or `false`".into(),
        "a sequence" => "a list".into(),
        "a string" => "a text in quotes".into(),
        "a map" => "a table".into(),
        "an array of length 2" => "a list of two names".into(),
        _ if text.starts_with("struct ") => "a table".into(),
        _ => text,
    }
}

impl Node {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.value {
            Value::String(text) => Unexpected::Str(text),
            Value::Integer(number) => Unexpected::Signed(*number),
            Value::Float(number) => Unexpected::Float(*number),
            Value::Boolean(truth) => Unexpected::Bool(*truth),
            Value::Datetime(_) => Unexpected::Other("a date"),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        }
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.value {
            Value::String(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(truth) => visitor.visit_bool(*truth),
            Value::Datetime(_) => Err(Fault::invalid_type(self.unexpected(), &visitor)),
            Value::Array(items) => visit_items(items, visitor),
            Value::Table(table) => visitor.visit_map(Fields::new(table, None)),
        }
        .map_err(|fault| fault.at(self.origin.clone()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let placed = |fault: Fault| fault.at(self.origin.clone());
        match (name.strip_prefix(TAGGED), &self.value) {
            (Some(tag), Value::Table(table)) => visit_tagged(table, tag, visitor).map_err(placed),
            (Some(_), Value::String(text)) if variants.contains(&text.as_str()) => {
                visitor.visit_enum(Variant { name: text, fields: None }).map_err(placed)
            }
            (Some(_), _) => self.deserialize_any(visitor),
            (None, Value::String(text)) => {
                visitor.visit_enum(Variant { name: text, fields: None }).map_err(placed)
            }
            (None, _) => {
                let expected = one_of(variants.iter().copied());
                Err(placed(Fault::invalid_type(self.unexpected(), &expected.as_str())))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn visit_items<'de, V: Visitor<'de>>(items: &'de [Node], visitor: V) -> Result<V::Value, Fault> {
    let mut access = Items { items, next: 0 };
    let value = visitor.visit_seq(&mut access)?;
    if access.next < items.len() {
        let expected = format!("a list of {} values", access.next);
        return Err(Fault::invalid_length(items.len(), &expected.as_str()));
    }
    Ok(value)
}

fn visit_tagged<'de, V: Visitor<'de>>(
    table: &'de Table,
    tag: &'static str,
    visitor: V,
) -> Result<V::Value, Fault> {
    let Some(entry) = table.get(tag) else { return Err(Fault::missing_field(tag)) };
    let Value::String(name) = &entry.node.value else {
        let fault = Fault::invalid_type(entry.node.unexpected(), &"a text in quotes");
        return Err(fault.within(tag).at(entry.node.origin.clone()));
    };
    visitor.visit_enum(Variant { name, fields: Some((table, tag, &entry.node.origin)) })
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(item)
            .map(Some)
            .map_err(|fault| fault.at(item.origin.clone()).within(&format!("[{index}]")))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Fields<'de> {
    entries: std::collections::btree_map::Iter<'de, String, Entry>,
    skip: Option<&'static str>,
    current: Option<(&'de str, &'de Entry)>,
}

impl<'de> Fields<'de> {
    fn new(table: &'de Table, skip: Option<&'static str>) -> Self {
        Self { entries: table.iter(), skip, current: None }
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let skip = self.skip;
        let Some((key, entry)) = self.entries.find(|(key, _)| skip != Some(key.as_str())) else {
            return Ok(None);
        };
        self.current = Some((key, entry));
        let deserializer: StrDeserializer<'_, Fault> = key.as_str().into_deserializer();
        seed.deserialize(deserializer).map(Some).map_err(|fault| fault.at(entry.key.clone()).within(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (key, entry) =
            self.current.take().ok_or_else(|| Fault::custom("a value was asked for before its key"))?;
        seed.deserialize(&entry.node).map_err(|fault| fault.at(entry.node.origin.clone()).within(key))
    }
}

/// The named variant, with the fields beside the tag, if there is a table around it.
struct Variant<'de> {
    name: &'de str,
    fields: Option<(&'de Table, &'static str, &'de Origin)>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let deserializer: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        match seed.deserialize(deserializer) {
            Ok(value) => Ok((value, self)),
            Err(fault) => Err(match self.fields {
                Some((_, tag, origin)) => fault.at(origin.clone()).within(tag),
                None => fault,
            }),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(VariantFields { fields: self.fields })
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        Err(Fault::invalid_type(Unexpected::TupleVariant, &visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(Fault::invalid_type(Unexpected::StructVariant, &visitor))
    }
}

struct VariantFields<'de> {
    fields: Option<(&'de Table, &'static str, &'de Origin)>,
}

impl<'de> Deserializer<'de> for VariantFields<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.fields {
            Some((table, tag, _)) => visitor.visit_map(Fields::new(table, Some(tag))),
            None => {
                visitor.visit_map(de::value::MapDeserializer::new(std::iter::empty::<(&'de str, &'de str)>()))
            }
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
