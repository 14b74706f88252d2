//! Random wireless deployments and the disjoint routes across them.
