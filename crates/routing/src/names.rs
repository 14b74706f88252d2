//! Things that are chosen by name.

use crate::error::RoutingError;

/// The one of `all` that bears the name.
pub(crate) fn pick<T: Copy>(
    key: &'static str,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, RoutingError> {
    let found = all.iter().copied().find(|&one| name_of(one) == name);
    found.ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
        RoutingError::setting(key, format!("there is no \"{name}\"; choose from {}", known.join(", ")))
    })
}
