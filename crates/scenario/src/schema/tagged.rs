//! Tables whose meaning one key chooses: `{ kind = "bulk", bytes = "20 MB" }`, with short forms.

use crate::suggest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, Error, Unexpected, Visitor};
use serde_json::{Value, json};
use std::fmt;
use std::marker::PhantomData;

/// A table with a tag. The macro [`tagged!`] implements it.
pub(crate) trait Tagged<'de>: Sized {
    /// What is expected when neither the table nor a short form was found.
    const EXPECTED: &'static str;
    /// Reads the variant that the tag names.
    fn variant<A: EnumAccess<'de>>(access: A) -> Result<Self, A::Error>;
    /// The short form of a text.
    fn from_text(text: &str) -> Option<Self>;
    /// The short form of a number.
    fn from_number(number: f64) -> Option<Self>;
}

/// Visits a tagged table or its short forms.
pub(crate) struct TaggedVisitor<T>(pub(crate) PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<T, A::Error> {
        T::variant(access)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).ok_or_else(|| {
            let hint = suggest::with_hint(T::EXPECTED, text, |other| T::from_text(other).is_some());
            E::invalid_value(Unexpected::Str(text), &hint.as_str())
        })
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        T::from_number(number as f64).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        T::from_number(number).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }
}

/// The fields of a variant, with the tag among them.
pub(crate) fn with_tag(tag: &str, name: &str, fields: Value) -> Value {
    let mut object = match fields {
        Value::Object(object) => object,
        _ => serde_json::Map::new(),
    };
    object.insert(tag.to_owned(), json!(name));
    Value::Object(object)
}

/// The schema of one variant: that of its fields, with the tag as a required constant.
pub(crate) fn variant_schema<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    tag: &str,
    name: &str,
    description: &str,
) -> Schema {
    let mut schema = T::json_schema(generator);
    let object = schema.ensure_object();
    object.insert("description".into(), json!(description));
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(tag.to_owned(), json!({ "const": name }));
    }
    let required = object.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        required.push(json!(tag));
    }
    schema
}

/// The schema of a tagged table and its short forms.
pub(crate) fn tagged_schema(
    description: &str,
    names: &[&str],
    mut variants: Vec<Schema>,
    short: Option<Schema>,
) -> Schema {
    variants.push(json_schema!({ "enum": names }));
    variants.extend(short);
    json_schema!({ "description": description, "anyOf": variants })
}

/// Declares a tagged table: an enum of newtype variants, each with a table of fields.
macro_rules! tagged {
    (
        #[doc = $doc:literal]
        enum $enum:ident by $tag:literal, expected $expected:literal,
        short $short:ident as $short_schema:expr;
        $(#[doc = $variant_doc:literal] $name:literal => $variant:ident($fields:ty),)+
    ) => {
        #[doc = $doc]
        #[derive(Clone, PartialEq, Debug)]
        pub(crate) enum $enum {
            $(#[doc = $variant_doc] $variant($fields),)+
        }

        const _: () = {
            const NAMES: &[&str] = &[$($name),+];

            #[derive(serde::Deserialize)]
            enum Tag {
                $(#[serde(rename = $name)] $variant,)+
            }

            impl<'de> $crate::schema::tagged::Tagged<'de> for $enum {
                const EXPECTED: &'static str = $expected;

                fn variant<A: serde::de::EnumAccess<'de>>(access: A) -> Result<Self, A::Error> {
                    use serde::de::VariantAccess;
                    match access.variant()? {
                        $((Tag::$variant, fields) => fields.newtype_variant().map(Self::$variant),)+
                    }
                }

                fn from_text(text: &str) -> Option<Self> {
                    $short(Ok(text))
                }

                fn from_number(number: f64) -> Option<Self> {
                    $short(Err(number))
                }
            }

            impl<'de> serde::Deserialize<'de> for $enum {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let visitor = $crate::schema::tagged::TaggedVisitor(std::marker::PhantomData);
                    deserializer.deserialize_enum(concat!("#", $tag), NAMES, visitor)
                }
            }

            impl serde::Serialize for $enum {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::Error;
                    let (name, fields) = match self {
                        $(Self::$variant(fields) => ($name, serde_json::to_value(fields)),)+
                    };
                    let fields = fields.map_err(S::Error::custom)?;
                    $crate::schema::tagged::with_tag($tag, name, fields).serialize(serializer)
                }
            }

            impl schemars::JsonSchema for $enum {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    stringify!($enum).into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    use $crate::schema::tagged::{tagged_schema, variant_schema};
                    let variants = vec![
                        $(variant_schema::<$fields>(generator, $tag, $name, $variant_doc.trim()),)+
                    ];
                    let short: Option<schemars::Schema> = $short_schema(generator);
                    tagged_schema($doc.trim(), NAMES, variants, short)
                }
            }
        };
    };
}

pub(crate) use tagged;
