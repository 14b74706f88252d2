//! How a table is declared, built and described.

use super::Outcome;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

/// Declares a table. A line is a column: its meaning, name and type (`optional_…`: it may be empty), unit, and what it is of a
/// row. `of row`: the row has it under its name; otherwise it follows from the row by the expression. Columns marked
/// `summary` are in the summary too.
///
/// A `struct` after the columns is the row: the columns `of row` become its fields, and what it names itself.
macro_rules! table {
    (
        $doc_name:ident: $(#[doc = $doc:literal])+
        $function:ident $(, $summary:ident)? of $rows:ident, $outcome:ident, $row:ident { $($columns:tt)+ }
        $(#[$meta:meta])+ pub struct $type:ident { $($fields:tt)* }
    ) => {
        table! {
            $doc_name: $(#[doc = $doc])+
            $function $(, $summary)? of $rows, $outcome, $row { $($columns)+ }
        }
        table! { @row $(#[$meta])+ $type { $($fields)* } of { $($columns)+ } }
    };
    (
        $doc_name:ident: $(#[doc = $doc:literal])+
        $function:ident, $summary:ident of $rows:ident, $outcome:ident, $row:ident { $($columns:tt)+ }
    ) => {
        table! { $doc_name: $(#[doc = $doc])+ $function of $rows, $outcome, $row { $($columns)+ } }
        table! { @summary $summary of $rows, $row { $($columns)+ } }
    };
    (
        $doc_name:ident: $(#[doc = $doc:literal])+
        $function:ident of $rows:ident, $outcome:ident, $row:ident { $($columns:tt)+ }
    ) => {
        table! { $doc_name: $(#[doc = $doc])+ $function of $rows as $rows, $outcome, $row { $($columns)+ } }
    };
    (
        $doc_name:ident: $(#[doc = $doc:literal])+
        $function:ident of $rows:ident as $name_of_table:ident, $outcome:ident, $row:ident {
            $(
                $(#[doc = $meaning:literal])+
                $name:ident: $kind:ident $(of $of:ident)? $([$unit:literal])? $(, $mark:ident)? $(= $value:expr)?;
            )+
        }
    ) => {
        const $doc_name: TableDoc = TableDoc {
            name: stringify!($name_of_table),
            meaning: concat!($($doc),+),
            columns: &[$(
                $crate::outcome::columns::ColumnDoc {
                    name: stringify!($name),
                    kind: stringify!($kind),
                    unit: concat!("", $($unit)?),
                    meaning: concat!($($meaning),+),
                },
            )+],
        };

        impl Outcome {
            $(#[doc = $doc])+
            pub fn $function(&self) -> RecordBatch {
                let $outcome = self;
                $crate::outcome::columns::ColumnTable::new($outcome, $outcome.$rows.len())
                    $(.$kind(
                        stringify!($name),
                        $outcome.$rows.iter().map(|$row| {
                            $crate::outcome::columns::cell!($kind $name $(of $of)? $(= $value)?)
                        }),
                    ))+
                    .finish()
            }
        }
    };
    (
        @summary $summary:ident of $rows:ident, $row:ident {
            $(
                $(#[doc = $meaning:literal])+
                $name:ident: $kind:ident $(of $of:ident)? $([$unit:literal])? $(, $mark:ident)? $(= $value:expr)?;
            )+
        }
    ) => {
        impl Outcome {
            /// The columns of each row that the summary has too.
            pub(super) fn $summary(&self) -> impl Iterator<Item = Fields> {
                self.$rows.iter().map(|$row| {
                    let mut fields = Fields::default();
                    $($crate::outcome::columns::mark!(
                        fields ($($mark)?) $name: $kind $name $(of $of)? $(= $value)?
                    );)+
                    fields
                })
            }
        }
    };
    (
        @row $(#[$meta:meta])+ $type:ident { $($fields:tt)* } of {
            $(#[doc = $meaning:literal])+
            $name:ident: $kind:ident of $row:ident $([$unit:literal])? $(, $mark:ident)?;
            $($columns:tt)*
        }
    ) => {
        table! {
            @row $(#[$meta])+ $type {
                $($fields)*
                $(#[doc = $meaning])+
                pub $name: $crate::outcome::columns::field!($kind of $row),
            } of { $($columns)* }
        }
    };
    (
        @row $(#[$meta:meta])+ $type:ident { $($fields:tt)* } of {
            $(#[doc = $meaning:literal])+
            $name:ident: $kind:ident $([$unit:literal])? $(, $mark:ident)? = $value:expr;
            $($columns:tt)*
        }
    ) => {
        table! { @row $(#[$meta])+ $type { $($fields)* } of { $($columns)* } }
    };
    (@row $(#[$meta:meta])+ $type:ident { $($fields:tt)* } of {}) => {
        $(#[$meta])+
        pub struct $type {
            $($fields)*
        }
    };
}

/// The type of a row's field that is a column of this type.
macro_rules! field {
    (text of $row:ident) => { String };
    (optional_text of $row:ident) => { Option<String> };
    (optional_u64 of $row:ident) => { Option<u64> };
    (optional_u32 of $row:ident) => { Option<u32> };
    (optional_f64 of $row:ident) => { Option<f64> };
    ($kind:ident of $row:ident) => { $kind };
}

/// What a column holds of a row.
macro_rules! cell {
    ($kind:ident $name:ident = $value:expr) => {
        $value
    };
    (text $name:ident of $row:ident) => {
        &$row.$name
    };
    (optional_text $name:ident of $row:ident) => {
        $row.$name.as_deref()
    };
    ($kind:ident $name:ident of $row:ident) => {
        $row.$name
    };
}

/// Puts a column into the summary, if it is marked.
macro_rules! mark {
    ($fields:ident () $name:ident: $($cell:tt)+) => {};
    ($fields:ident ($mark:ident) $name:ident: $($cell:tt)+) => {
        $fields.$mark(stringify!($name), serde_json::json!($crate::outcome::columns::cell!($($cell)+)))
    };
}

pub(super) use {cell, field, mark, table};

/// What a table is.
pub(super) struct TableDoc {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) columns: &'static [ColumnDoc],
}

/// What a column is.
pub(super) struct ColumnDoc {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) unit: &'static str,
    pub(super) meaning: &'static str,
}

impl TableDoc {
    /// The table as a section of a Markdown page.
    pub(super) fn write(&self, page: &mut String) {
        let meaning = self.meaning.trim();
        let _ = writeln!(page, "\n## `{}`\n\n{meaning}\n", self.name);
        page.push_str("| column | type | unit | what |\n|---|---|---|---|\n");
        for ColumnDoc { name, kind, unit, meaning } in self.columns {
            let kind = match kind.strip_prefix("optional_") {
                Some(kind) => format!("{kind} ?"),
                None => (*kind).to_owned(),
            };
            let _ = writeln!(page, "| `{name}` | {kind} | {unit} | {} |", meaning.trim());
        }
    }
}

/// Some columns of one row, in the order of their declaration.
#[derive(Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    /// A column of the summary.
    pub(super) fn summary(&mut self, name: &'static str, value: Value) {
        self.0.push((name, value));
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A table under construction: named columns of equal length.
pub(super) struct ColumnTable {
    columns: Vec<(&'static str, ArrayRef, bool)>,
}

impl ColumnTable {
    /// Starts with the provenance, the same in each of `rows` rows.
    pub(super) fn new(outcome: &Outcome, rows: usize) -> Self {
        let constant = |text: &str| {
            let mut column = StringDictionaryBuilder::<Int32Type>::new();
            (0..rows).for_each(|_| column.append_value(text));
            Arc::new(column.finish()) as ArrayRef
        };
        let provenance = &outcome.provenance;
        let seeds: ArrayRef = Arc::new(UInt64Array::from_value(provenance.seed, rows));
        Self { columns: Vec::new() }
            .full("scenario", constant(&provenance.scenario))
            .full("scenario_hash", constant(&provenance.scenario_hash))
            .full("seed", seeds)
    }

    /// A column with a value in every row.
    fn full(mut self, name: &'static str, column: ArrayRef) -> Self {
        self.columns.push((name, column, false));
        self
    }

    /// A column that may be empty in some rows.
    fn nullable(mut self, name: &'static str, column: ArrayRef) -> Self {
        self.columns.push((name, column, true));
        self
    }

    pub(super) fn text<T: AsRef<str>>(self, name: &'static str, values: impl Iterator<Item = T>) -> Self {
        self.full(name, Arc::new(values.map(Some).collect::<StringArray>()))
    }

    pub(super) fn optional_text<T: AsRef<str>>(
        self,
        name: &'static str,
        values: impl Iterator<Item = Option<T>>,
    ) -> Self {
        self.nullable(name, Arc::new(values.collect::<StringArray>()))
    }

    pub(super) fn u64(self, name: &'static str, values: impl Iterator<Item = u64>) -> Self {
        self.full(name, Arc::new(UInt64Array::from_iter_values(values)))
    }

    pub(super) fn optional_u64(self, name: &'static str, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.nullable(name, Arc::new(values.collect::<UInt64Array>()))
    }

    pub(super) fn u32(self, name: &'static str, values: impl Iterator<Item = u32>) -> Self {
        self.full(name, Arc::new(UInt32Array::from_iter_values(values)))
    }

    pub(super) fn optional_u32(self, name: &'static str, values: impl Iterator<Item = Option<u32>>) -> Self {
        self.nullable(name, Arc::new(values.collect::<UInt32Array>()))
    }

    pub(super) fn f64(self, name: &'static str, values: impl Iterator<Item = f64>) -> Self {
        self.full(name, Arc::new(Float64Array::from_iter_values(values)))
    }

    pub(super) fn optional_f64(self, name: &'static str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.nullable(name, Arc::new(values.collect::<Float64Array>()))
    }

    pub(super) fn bool(self, name: &'static str, values: impl Iterator<Item = bool>) -> Self {
        self.full(name, Arc::new(values.map(Some).collect::<BooleanArray>()))
    }

    pub(super) fn finish(self) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(self.columns).expect("columns of one table have one length")
    }
}
