//! TOML text to nodes.

use super::decode::Fault;
use super::{Entry, Node, Origin, Table, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a whole document.
pub(super) fn parse(source: &str) -> Result<Node, Fault> {
    let table = DeTable::parse(source).map_err(|error| {
        let origin = Origin::File(error.span().unwrap_or(0..0));
        Fault::new("", format!("this is not valid TOML: {}", error.message()), "").at(origin)
    })?;
    let value = Value::Table(convert_table(table.into_inner(), None)?);
    Ok(Node { value, origin: Origin::File(0..0) })
}

/// Reads one value of an override: TOML if it is TOML, else the text itself.
pub(super) fn parse_value(text: &str, index: usize) -> Result<Node, Fault> {
    match DeValue::parse(text) {
        Ok(value) => convert(value, Some(index)),
        Err(_) => Ok(Node { value: Value::String(text.to_owned()), origin: Origin::Override(index) }),
    }
}

fn convert_table(table: DeTable<'_>, set: Option<usize>) -> Result<Table, Fault> {
    table
        .into_iter()
        .map(|(key, value)| {
            let origin = origin(key.span(), set);
            Ok((key.into_inner().into_owned(), Entry { key: origin, node: convert(value, set)? }))
        })
        .collect()
}

fn origin(span: std::ops::Range<usize>, set: Option<usize>) -> Origin {
    set.map_or(Origin::File(span), Origin::Override)
}

fn convert(value: Spanned<DeValue<'_>>, set: Option<usize>) -> Result<Node, Fault> {
    let origin = origin(value.span(), set);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(digits) => {
            let number = i64::from_str_radix(digits.as_str(), digits.radix()).map_err(|_| {
                Fault::new("", "this whole number is too large", "at most 63 bits").at(origin.clone())
            })?;
            Value::Integer(number)
        }
        DeValue::Float(digits) => Value::Float(digits.as_str().parse().map_err(|_| {
            Fault::new("", format!("`{}` is not a number", digits.as_str()), "a number").at(origin.clone())
        })?),
        DeValue::Boolean(truth) => Value::Boolean(truth),
        DeValue::Datetime(date) => Value::Datetime(date.to_string()),
        DeValue::Array(items) => {
            Value::Array(items.into_iter().map(|item| convert(item, set)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(convert_table(table, set)?),
    };
    Ok(Node { value, origin })
}
