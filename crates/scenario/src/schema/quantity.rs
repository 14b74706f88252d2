//! Quantities as scenario files write them: `"10 ms"`, `"10 Mbit/s"`, `"64 kB"`, `"0.5 %"`, `"50 packets"`.

use crate::suggest;
use ropewalk_sim::QueueLimit;
use ropewalk_units::{Bytes, Duration, Probability, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The number in front of a unit, as a regular expression.
const NUMBER: &str = r"^\s*[0-9_]*\.?[0-9_]+([eE][+-]?[0-9]+)?\s*";

/// A quantity of the crate `units`, or built on it, that scenario files write as a text.
pub(crate) trait Quantity: Sized {
    /// Name in the JSON Schema.
    const NAME: &'static str;
    /// Regular expression of the unit.
    const UNIT: &'static str;
    /// A good value.
    const EXAMPLE: &'static str;
    /// The largest value, in words, if that is a limit that a file could reach.
    const MOST: Option<&'static str> = None;
    /// May it be negative?
    const SIGNED: bool = false;
    /// What would have been right.
    fn expected() -> Cow<'static, str>;
    /// From its text.
    fn from_text(text: &str) -> Option<Self>;
    /// From a plain number, where one is allowed.
    fn from_number(_number: f64) -> Option<Self> {
        None
    }
}

/// "at most …", if all that is wrong with a text is that it is too much.
fn too_much<Q: Quantity>(text: &str) -> Option<String> {
    let (number, unit) = suggest::number_and_unit(text)?;
    let number: f64 = number.replace('_', "").parse().ok()?;
    let is_unit = || Q::from_text(&format!("1 {unit}")).is_some();
    Q::MOST.filter(|_| number > 1.0 && is_unit()).map(|most| format!("at most {most}"))
}

struct QuantityVisitor<Q>(std::marker::PhantomData<Q>);

impl<Q: Quantity> QuantityVisitor<Q> {
    fn number<E: Error>(number: f64, found: Unexpected<'_>) -> Result<Q, E> {
        Q::from_number(number).ok_or_else(|| E::invalid_value(found, &Self(std::marker::PhantomData)))
    }
}

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Q::expected())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Q, E> {
        Q::from_text(text).ok_or_else(|| {
            let expected = too_much::<Q>(text).map_or_else(Q::expected, Cow::Owned);
            let hint = suggest::with_hint(&expected, text, |other| Q::from_text(other).is_some());
            E::invalid_value(Unexpected::Str(text), &hint.as_str())
        })
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Q, E> {
        Self::number(number as f64, Unexpected::Signed(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Q, E> {
        Self::number(number, Unexpected::Float(number))
    }
}

macro_rules! serde_quantity {
    ($name:ident) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(QuantityVisitor(std::marker::PhantomData))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                <Self as Quantity>::NAME.into()
            }

            fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
                quantity_schema::<Self>()
            }
        }
    };
}

macro_rules! text_quantity {
    ($(#[$meta:meta])* $name:ident($inner:ty), $unit:literal, $example:literal, at most $most:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub(crate) struct $name(pub(crate) $inner);

        impl Quantity for $name {
            const NAME: &'static str = stringify!($name);
            const UNIT: &'static str = $unit;
            const EXAMPLE: &'static str = $example;
            const MOST: Option<&'static str> = Some($most);

            fn expected() -> Cow<'static, str> {
                // The empty text is no quantity, and the error of `units` says what is one.
                "".parse::<$inner>().err().map_or(Cow::Borrowed($example), |error| error.expected().into())
            }

            fn from_text(text: &str) -> Option<Self> {
                text.parse().ok().map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        serde_quantity!($name);
    };
}

/// A time, of at most a year: sums of several stay far inside 64 bits of nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Time(pub(crate) Duration);

impl Quantity for Time {
    const NAME: &'static str = "Time";
    const UNIT: &'static str = r"(ns|us|µs|ms|s|min|h)";
    const EXAMPLE: &'static str = "10 ms";
    const MOST: Option<&'static str> = Some("a year: 8784 h");

    fn expected() -> Cow<'static, str> {
        let units = "".parse::<Duration>().err().map_or("a time", |error| error.expected());
        format!("{units}, at most a year").into()
    }

    fn from_text(text: &str) -> Option<Self> {
        const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);
        text.parse().ok().filter(|time| *time <= YEAR).map(Self)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

serde_quantity!(Time);

/// A time forward or back, of at most a year, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimeShift(pub(crate) i64);

impl Quantity for TimeShift {
    const NAME: &'static str = "TimeShift";
    const UNIT: &'static str = Time::UNIT;
    const EXAMPLE: &'static str = "-10 ms";
    const SIGNED: bool = true;

    fn expected() -> Cow<'static, str> {
        format!("{}, with a minus in front if it goes back", Time::expected()).into()
    }

    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let (sign, time) = text.strip_prefix('-').map_or((1, text), |time| (-1, time));
        Some(Self(sign * Time::from_text(time)?.0.as_nanos() as i64))
    }
}

impl Serialize for TimeShift {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sign = if self.0 < 0 { "-" } else { "" };
        serializer.collect_str(&format_args!("{sign}{}", Duration::from_nanos(self.0.unsigned_abs())))
    }
}

serde_quantity!(TimeShift);

text_quantity!(
    /// A bit rate.
    BitRate(Rate), r"(bit/s|bps|kbit/s|kbps|Mbit/s|Mbps|Gbit/s|Gbps)", "10 Mbit/s",
    at most "18446744073 Gbit/s"
);
text_quantity!(
    /// An amount of data.
    Size(Bytes), r"(B|kB|MB|GB|KiB|MiB|GiB)", "64 kB", at most "18446744073 GB"
);

/// A probability: a number from 0 to 1, or a text in per cent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Chance(pub(crate) Probability);

impl Quantity for Chance {
    const NAME: &'static str = "Chance";
    const UNIT: &'static str = "%?";
    const EXAMPLE: &'static str = "0.5 %";

    fn expected() -> Cow<'static, str> {
        "".parse::<Probability>().err().map_or(Cow::Borrowed("a probability"), |e| e.expected().into())
    }

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    fn from_number(number: f64) -> Option<Self> {
        Probability::new(number).map(Self)
    }
}

impl Chance {
    /// A probability that stands alone where a table could, as a text or as a number.
    pub(crate) fn short(value: Result<&str, f64>) -> Option<Self> {
        match value {
            Ok(text) => Self::from_text(text),
            Err(number) => Self::from_number(number),
        }
    }

    /// The schema of that.
    pub(crate) fn short_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<Self>())
    }
}

impl Serialize for Chance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // As a number: a text in per cent would round what is very small.
        serializer.serialize_f64(self.0.get())
    }
}

serde_quantity!(Chance);

/// An amount of data that fits 32 bits: buffers and thresholds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BufferSize(pub(crate) u32);

impl Quantity for BufferSize {
    const NAME: &'static str = "BufferSize";
    const UNIT: &'static str = Size::UNIT;
    const EXAMPLE: &'static str = Size::EXAMPLE;

    fn expected() -> Cow<'static, str> {
        format!("{}, below 4 GiB", Size::expected()).into()
    }

    fn from_text(text: &str) -> Option<Self> {
        u32::try_from(Size::from_text(text)?.0.get()).ok().map(Self)
    }
}

impl Serialize for BufferSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Bytes::new(u64::from(self.0)))
    }
}

serde_quantity!(BufferSize);

macro_rules! join_units {
    ($only:literal) => { $only };
    ($first:literal, $($rest:literal),+) => { concat!($first, "|", join_units!($($rest),+)) };
}

/// Declares a quantity that is a floating-point number of a base unit; units are tried in order.
macro_rules! float_quantity {
    (
        $(#[$meta:meta])* $name:ident, $base:literal, $example:literal, $expected:literal, signed $signed:literal,
        $($unit:literal = $factor:expr),+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub(crate) struct $name(pub(crate) f64);

        impl Quantity for $name {
            const NAME: &'static str = stringify!($name);
            const UNIT: &'static str = concat!("(", join_units!($($unit),+), ")");
            const EXAMPLE: &'static str = $example;
            const SIGNED: bool = $signed;

            fn expected() -> Cow<'static, str> {
                Cow::Borrowed($expected)
            }

            fn from_text(text: &str) -> Option<Self> {
                let text = text.trim();
                let (number, factor) = None$(.or_else(|| text.strip_suffix($unit).map(|n| (n, $factor))))+?;
                let number: f64 = number.trim_end().replace('_', "").parse().ok()?;
                let value = number * factor;
                (value.is_finite() && ($signed || value >= 0.0)).then_some(Self(value))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $base), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        serde_quantity!($name);
    };
}

float_quantity!(
    /// A coordinate, in metres.
    Coordinate, "m", "-12.5 m", "a finite coordinate with a unit, such as \"12.5 m\" or \"-1 km\"", signed true,
    "km" = 1_000.0, "m" = 1.0
);
float_quantity!(
    /// A length, in metres.
    Length, "m", "25 m", "a finite length that is not negative, with a unit, such as \"25 m\" or \"0.1 km\"", signed false,
    "km" = 1_000.0, "m" = 1.0
);
float_quantity!(
    /// A speed, in metres per second.
    Speed, "m/s", "1.5 m/s", "a finite speed with a unit, such as \"1.5 m/s\" or \"5 km/h\"", signed false,
    "km/h" = 1.0 / 3.6, "m/s" = 1.0
);
float_quantity!(
    /// An angle, in radians.
    Angle, "rad", "0.3 rad", "a finite angle with a unit, such as \"0.3 rad\" or \"20 deg\"", signed true,
    "deg" = std::f64::consts::PI / 180.0, "rad" = 1.0
);
float_quantity!(
    /// A power, in decibels above a milliwatt.
    Power, "dBm", "16 dBm", "a finite power in dBm, such as \"16 dBm\" or \"-94 dBm\"", signed true,
    "dBm" = 1.0
);
float_quantity!(
    /// A ratio, in decibels.
    Decibels, "dB", "4 dB", "a finite ratio in dB, such as \"4 dB\"", signed true,
    "dB" = 1.0
);

/// A point of the plane, or the sides of a rectangle.
macro_rules! pair {
    ($(#[$meta:meta])* $name:ident of $part:ident, $expected:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub(crate) struct $name(pub(crate) [$part; 2]);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Pair;
                impl<'de> Visitor<'de> for Pair {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<$name, A::Error> {
                        let mut next = |index: usize| {
                            let part: Option<$part> = items.next_element()?;
                            part.ok_or_else(|| A::Error::invalid_length(index, &self))
                        };
                        Ok($name([next(0)?, next(1)?]))
                    }
                }
                deserializer.deserialize_seq(Pair)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let part = generator.subschema_for::<$part>();
                json_schema!({
                    "type": "array",
                    "description": $expected,
                    "items": part,
                    "minItems": 2,
                    "maxItems": 2,
                })
            }
        }
    };
}

pair!(
    /// A point.
    Point of Coordinate, "a point such as [\"0 m\", \"12.5 m\"]"
);
pair!(
    /// A rectangle.
    Rectangle of Length, "width and height such as [\"100 m\", \"100 m\"]"
);

/// How much a queue holds: packets or octets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Limit(pub(crate) QueueLimit);

impl Quantity for Limit {
    const NAME: &'static str = "Limit";
    const UNIT: &'static str = r"(packets?|B|kB|MB|GB|KiB|MiB|GiB)";
    const EXAMPLE: &'static str = "50 packets";

    fn expected() -> Cow<'static, str> {
        "a length of at least one packet, such as \"50 packets\" or \"64 kB\"".into()
    }

    fn from_text(text: &str) -> Option<Self> {
        let trimmed = text.trim();
        let limit = match trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet")) {
            Some(number) => QueueLimit::Packets(number.trim().parse().ok().filter(|&count| count > 0)?),
            None => {
                QueueLimit::Bytes(Size::from_text(text).map(|size| size.0.get()).filter(|&size| size > 0)?)
            }
        };
        Some(Self(limit))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            QueueLimit::Packets(1) => f.write_str("1 packet"),
            QueueLimit::Packets(count) => write!(f, "{count} packets"),
            QueueLimit::Bytes(size) => fmt::Display::fmt(&Bytes::new(size), f),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

serde_quantity!(Limit);

fn number(signed: bool) -> Cow<'static, str> {
    if signed { NUMBER.replacen("[0-9_]*", "-?[0-9_]*", 1).into() } else { NUMBER.into() }
}

fn quantity_schema<Q: Quantity>() -> Schema {
    let text = json_schema!({
        "type": "string",
        "description": Q::expected(),
        "pattern": format!("{}{}\\s*$", number(Q::SIGNED), Q::UNIT),
        "examples": [Q::EXAMPLE],
    });
    if Q::from_number(0.5).is_none() {
        return text;
    }
    json_schema!({
        "description": Q::expected(),
        "anyOf": [text, { "type": "number", "minimum": 0, "maximum": 1 }],
    })
}

/// A name of a host, router, link or connection.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct Name(pub(crate) String);

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name of letters, digits, `-` and `_`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        // Names become parts of file names and of the paths of overrides.
        if text.is_empty() || text.len() > 100 || !text.chars().all(good) {
            return Err(E::invalid_value(Unexpected::Str(text), &self));
        }
        Ok(Name(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "a name of letters, digits, `-` and `_`",
            "pattern": "^[A-Za-z0-9_-]{1,100}$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_packets_or_octets() {
        for (text, limit) in [
            ("50 packets", Some(QueueLimit::Packets(50))),
            ("1 packet", Some(QueueLimit::Packets(1))),
            ("64 kB", Some(QueueLimit::Bytes(64_000))),
            ("0 packets", None),
            ("0 B", None),
            ("-3 packets", None),
            ("50", None),
        ] {
            let parsed = Limit::from_text(text);
            assert_eq!(parsed.map(|limit| limit.0), limit, "{text}");
            if let Some(parsed) = parsed {
                assert_eq!(Limit::from_text(&parsed.to_string()), Some(parsed));
            }
        }
    }

    #[test]
    fn lengths_have_a_unit_and_are_finite() {
        for (text, metres) in [
            ("25 m", Some(25.0)),
            ("0.1km", Some(100.0)),
            ("1_000 m", Some(1_000.0)),
            ("-1 m", None),
            ("NaN m", None),
            ("inf m", None),
            ("25", None),
            ("25 dB", None),
        ] {
            assert_eq!(Length::from_text(text).map(|length| length.0), metres, "{text}");
        }
        assert_eq!(Coordinate::from_text("-12.5 m").map(|at| at.to_string()).as_deref(), Some("-12.5 m"));
        assert_eq!(Coordinate::from_text("NaN m"), None);
        assert_eq!(Speed::from_text("36 km/h").map(|speed| (speed.0 * 1e9).round()), Some(1e10));
    }

    #[test]
    fn buffers_fit_32_bits() {
        assert_eq!(BufferSize::from_text("4 MiB").map(|size| size.0), Some(4 << 20));
        assert_eq!(BufferSize::from_text("5 GB"), None);
    }
}
