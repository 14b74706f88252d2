//! Packet scripts: what a connection sends, and on which subflow, for what it receives. One file per theme.

mod script;

mod handshake;
