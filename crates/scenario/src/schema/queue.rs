//! The queue before a link's transmitter.

use super::quantity::{Chance, Limit, Quantity, Size, Time};
use super::table::{Value, table};
use super::tagged::tagged;
use ropewalk_sim::{CodelConfig, FqCodelConfig, Queue, QueueLimit, RedConfig};
use ropewalk_units::Duration;
use schemars::{Schema, SchemaGenerator};

tagged! {
    /// The queue before a transmitter; a length alone, such as "50 packets", is drop-tail of that length.
    enum QueueTable by "discipline",
    expected "a queue such as \"50 packets\", \"fq-codel\" or { discipline = \"codel\", limit = \"64 kB\" }",
    short short_queue as limit_schema;
    /// First in, first out; what does not fit is dropped.
    "drop-tail" => DropTail(DropTailTable),
    /// Random early detection (Floyd & Jacobson 1993), gentle.
    "red" => Red(RedTable),
    /// CoDel (RFC 8289).
    "codel" => Codel(CodelTable),
    /// FQ-CoDel (RFC 8290).
    "fq-codel" => FqCodel(FqCodelTable),
}

fn short_queue(text: Result<&str, f64>) -> Option<QueueTable> {
    let limit = Limit::from_text(text.ok()?)?;
    Some(QueueTable::DropTail(DropTailTable { limit: Some(limit), ..DropTailTable::default() }))
}

fn limit_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<Limit>())
}

table! {
    /// Keys of drop-tail.
    #[derive(Default)]
    DropTailTable =>
    /// Keys of drop-tail.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub(crate) struct DropTailKeys {
        keys {
            /// How much it holds, the packet in transmission included.
            limit: QueueLimit as Limit = QueueLimit::Packets(100);
            /// Mark ECN-capable packets that find at least this many packets queued (default: never).
            mark_above: Option<u32> as u32 = None;
        }
    }
}

/// Makes the table of a discipline: its limit, and the constants that its crate declares.
macro_rules! discipline_table {
    (
        { $doc:literal $table:ident, $struct:ident of $config:ident, $limit:literal packets }
        $($(#[$key_doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*
    ) => {
        table! {
            #[doc = $doc]
            #[derive(Default)]
            $table =>
            #[doc = $doc]
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub(crate) struct $struct {
                keys {
                    /// Hard limit.
                    limit: QueueLimit as Limit = QueueLimit::Packets($limit);
                    $($(#[$key_doc])* $key: $type $(as $form)? = $default;)*
                }
            }
        }

        impl $struct {
            const fn new(limit: QueueLimit, config: &$config) -> Self {
                Self { limit, $($key: config.$key,)* }
            }

            const fn config(&self) -> $config {
                $config { $($key: self.$key,)* }
            }
        }
    };
}

macro_rules! red_table {
    ($($keys:tt)*) => {
        discipline_table! {
            { "Keys of RED; thresholds in packets of the average queue." RedTable, RedKeys of RedConfig, 100 packets }
            $($keys)*
        }
    };
}

ropewalk_sim::red_keys!(red_table);

macro_rules! codel_table {
    ($($keys:tt)*) => {
        discipline_table! { { "Keys of CoDel." CodelTable, CodelKeys of CodelConfig, 1_000 packets } $($keys)* }
    };
}

ropewalk_sim::codel_keys!(codel_table);

/// Makes the table of FQ-CoDel of its own constants and of CoDel's.
macro_rules! fq_codel_table {
    (
        { $($(#[$own_doc:meta])* $own:ident: $own_type:ty $(as $own_form:ty)? = $own_default:expr;)* }
        $($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)*
    ) => {
        table! {
            /// Keys of FQ-CoDel.
            #[derive(Default)]
            FqCodelTable =>
            /// Keys of FQ-CoDel.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub(crate) struct FqCodelKeys {
                keys {
                    /// Hard limit.
                    limit: QueueLimit as Limit = QueueLimit::Packets(10_240);
                    $($(#[$doc])* $key: $type $(as $form)? = $default;)*
                    $($(#[$own_doc])* $own: $own_type $(as $own_form)? = $own_default;)*
                }
            }
        }

        impl FqCodelKeys {
            const fn new(limit: QueueLimit, config: &FqCodelConfig) -> Self {
                Self { limit, $($key: config.codel.$key,)* $($own: config.$own,)* }
            }

            const fn config(&self) -> FqCodelConfig {
                let codel = CodelConfig { $($key: self.$key,)* };
                FqCodelConfig { codel, $($own: self.$own,)* }
            }
        }
    };
}

macro_rules! fq_codel_with_codel {
    ($($own:tt)*) => {
        ropewalk_sim::codel_keys!(fq_codel_table, { $($own)* });
    };
}

ropewalk_sim::fq_codel_keys!(fq_codel_with_codel);

impl Value<QueueTable> for Queue {
    fn read(form: &QueueTable) -> Self {
        match form {
            QueueTable::DropTail(table) => {
                let DropTailKeys { limit, mark_above } = table.read();
                Self::DropTail { limit, mark_above }
            }
            QueueTable::Red(table) => {
                let keys = table.read();
                Self::Red { limit: keys.limit, red: keys.config() }
            }
            QueueTable::Codel(table) => {
                let keys = table.read();
                Self::Codel { limit: keys.limit, codel: keys.config() }
            }
            QueueTable::FqCodel(table) => {
                let keys = table.read();
                Self::FqCodel { limit: keys.limit, fq_codel: keys.config() }
            }
        }
    }

    fn show(&self) -> Option<QueueTable> {
        Some(match *self {
            Self::DropTail { limit, mark_above } => {
                QueueTable::DropTail(DropTailTable::show(&DropTailKeys { limit, mark_above })?)
            }
            Self::Red { limit, ref red } => QueueTable::Red(RedTable::show(&RedKeys::new(limit, red))?),
            Self::Codel { limit, ref codel } => {
                QueueTable::Codel(CodelTable::show(&CodelKeys::new(limit, codel))?)
            }
            Self::FqCodel { limit, ref fq_codel } => {
                QueueTable::FqCodel(FqCodelTable::show(&FqCodelKeys::new(limit, fq_codel))?)
            }
        })
    }
}
