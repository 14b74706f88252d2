//! The engine seen from outside: worlds of small stations and links.

mod common;
mod flying;
mod links;
mod medium;
mod properties;
