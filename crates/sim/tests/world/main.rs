//! The engine seen from outside: worlds of small stations and links.

mod common;
mod in_flight;
mod links;
mod medium;
mod properties;
