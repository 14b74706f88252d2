//! Sans-IO layer-3 bonding: several lines laid into one.
