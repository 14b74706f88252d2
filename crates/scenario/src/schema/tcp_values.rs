//! Values of TCP's keys that are a quantity or a word, a list or one item.

use super::constants::wrapped_constant;
use super::quantity::{BufferSize, Quantity};
use ropewalk_tcp::{HyStart, SpuriousResponse};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

wrapped_constant! {
    HyStart [] as HyStartName,
    SpuriousResponse [] as SpuriousList,
    Option<u32> [octets_or_unlimited] as Threshold,
    Option<u32> [segments_or_unlimited] as SegmentLimit,
    Option<u8> [shift_or_off] as Shift,
}

/// A response to spurious retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SpuriousName {
    /// RFC 2883, RFC 3708.
    Dsack,
    /// RFC 3522, RFC 4015.
    Eifel,
    /// RFC 5682.
    Frto,
    /// TCP-DOOR: out-of-order arrival turns congestion control off for a round trip (Wang and Zhang 2002).
    Door,
    /// Nothing.
    None,
}

/// The responses, as a list; one alone needs no brackets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SpuriousList(pub(crate) SpuriousResponse);

impl SpuriousList {
    fn add(&mut self, name: SpuriousName) {
        match name {
            SpuriousName::Dsack => self.0.dsack = true,
            SpuriousName::Eifel => self.0.eifel = true,
            SpuriousName::Frto => self.0.frto = true,
            SpuriousName::Door => self.0.door = true,
            SpuriousName::None => {}
        }
    }
}

struct SpuriousVisitor;

impl<'de> Visitor<'de> for SpuriousVisitor {
    type Value = SpuriousList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of `dsack`, `eifel`, `frto`, `door`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SpuriousList, E> {
        let deserializer: serde::de::value::StrDeserializer<'_, E> =
            serde::de::IntoDeserializer::into_deserializer(text);
        let mut list = SpuriousList(SpuriousResponse::default());
        list.add(SpuriousName::deserialize(deserializer)?);
        Ok(list)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<SpuriousList, A::Error> {
        let mut list = SpuriousList(SpuriousResponse::default());
        while let Some(name) = items.next_element()? {
            list.add(name);
        }
        Ok(list)
    }
}

impl<'de> Deserialize<'de> for SpuriousList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpuriousVisitor)
    }
}

impl Serialize for SpuriousList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SpuriousResponse { dsack, eifel, frto, door } = self.0;
        let all = [(dsack, "dsack"), (eifel, "eifel"), (frto, "frto"), (door, "door")];
        serializer.collect_seq(all.iter().filter(|(on, _)| *on).map(|(_, name)| name))
    }
}

impl JsonSchema for SpuriousList {
    fn schema_name() -> Cow<'static, str> {
        "SpuriousList".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<SpuriousName>();
        json_schema!({ "anyOf": [name, { "type": "array", "items": name }] })
    }
}

/// A version of HyStart; true is `plus-plus`, false is `off`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HyStartName(pub(crate) HyStart);

const HYSTART: [(HyStart, &str); 3] =
    [(HyStart::Off, "off"), (HyStart::Linux, "linux"), (HyStart::PlusPlus, "plus-plus")];

struct HyStartVisitor;

impl Visitor<'_> for HyStartVisitor {
    type Value = HyStartName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`off`, `linux`, `plus-plus`, true or false")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<HyStartName, E> {
        Ok(HyStartName(if on { HyStart::PlusPlus } else { HyStart::Off }))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<HyStartName, E> {
        let named = HYSTART.iter().find(|(_, name)| *name == text);
        named
            .map(|(version, _)| HyStartName(*version))
            .ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

impl<'de> Deserialize<'de> for HyStartName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HyStartVisitor)
    }
}

impl Serialize for HyStartName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = HYSTART.iter().find(|(version, _)| *version == self.0);
        serializer.serialize_str(named.map_or("off", |(_, name)| name))
    }
}

impl JsonSchema for HyStartName {
    fn schema_name() -> Cow<'static, str> {
        "HyStart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "enum": ["off", "linux", "plus-plus"] }, { "type": "boolean" }] })
    }
}

/// A size, or no limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Threshold(pub(crate) Option<u32>);

struct ThresholdVisitor;

impl Visitor<'_> for ThresholdVisitor {
    type Value = Threshold;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as \"64 kB\", or \"unlimited\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Threshold, E> {
        if text == "unlimited" {
            return Ok(Threshold(None));
        }
        match BufferSize::from_text(text) {
            Some(size) => Ok(Threshold(Some(size.0))),
            None => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ThresholdVisitor)
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(size) => BufferSize(size).serialize(serializer),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<BufferSize>();
        json_schema!({ "anyOf": [size, { "const": "unlimited" }] })
    }
}

/// The window scale's shift, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shift(pub(crate) Option<u8>);

struct ShiftVisitor;

impl Visitor<'_> for ShiftVisitor {
    type Value = Shift;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 to 14, or \"off\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Shift, E> {
        if text == "off" { Ok(Shift(None)) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Shift, E> {
        // RFC 7323 §2.3: at most 14.
        match u8::try_from(number) {
            Ok(shift) if shift <= 14 => Ok(Shift(Some(shift))),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Shift {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShiftVisitor)
    }
}

impl Serialize for Shift {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(shift) => serializer.serialize_u8(shift),
            None => serializer.serialize_str("off"),
        }
    }
}

impl JsonSchema for Shift {
    fn schema_name() -> Cow<'static, str> {
        "Shift".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": 14 }, { "const": "off" }] })
    }
}

/// A number of segments, or no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SegmentLimit(pub(crate) Option<u32>);

struct SegmentLimitVisitor;

impl Visitor<'_> for SegmentLimitVisitor {
    type Value = SegmentLimit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of segments from 1, or \"unlimited\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SegmentLimit, E> {
        if text == "unlimited" {
            return Ok(SegmentLimit(None));
        }
        Err(E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<SegmentLimit, E> {
        match u32::try_from(number) {
            Ok(segments) if segments > 0 => Ok(SegmentLimit(Some(segments))),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for SegmentLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SegmentLimitVisitor)
    }
}

impl Serialize for SegmentLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(segments) => serializer.serialize_u32(segments),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

impl JsonSchema for SegmentLimit {
    fn schema_name() -> Cow<'static, str> {
        "SegmentLimit".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "unlimited" }] })
    }
}
