//! "Number, space, unit": the one grammar of all quantities.

use std::fmt;

/// Why a text is not the quantity that was expected. Its message says what would have been right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseQuantityError {
    text: String,
    expected: &'static str,
}

impl ParseQuantityError {
    pub(crate) fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }

    /// What would have been right, e.g. `a time such as "10 ms" (units ns, us, ms, s, min, h)`.
    pub fn expected(&self) -> &'static str {
        self.expected
    }
}

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}", self.text, self.expected)
    }
}

impl std::error::Error for ParseQuantityError {}

/// Splits `"10.5 ms"` into the number and the unit. The space is optional, the sign is not accepted.
pub(crate) fn split<'a>(text: &'a str, expected: &'static str) -> Result<(f64, &'a str), ParseQuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".eE_+-".contains(c))).unwrap_or(text.len());
    // An exponent's `e` only belongs to the number when digits follow it.
    let number = text[..end].trim_end_matches(['e', 'E']).replace('_', "");
    let unit = text[text[..end].trim_end_matches(['e', 'E']).len()..].trim();
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 && !number.starts_with(['+', '-']) => {
            Ok((value, unit))
        }
        _ => Err(ParseQuantityError::new(text, expected)),
    }
}

/// `value * scale`, rounded to the nearest integer, if it fits.
pub(crate) fn scaled(
    text: &str,
    value: f64,
    scale: f64,
    expected: &'static str,
) -> Result<u64, ParseQuantityError> {
    let product = (value * scale).round();
    // 2^63 keeps sums of two such values inside a u64.
    if product < 9.2e18 { Ok(product as u64) } else { Err(ParseQuantityError::new(text, expected)) }
}

/// Prints `value` in the largest of `units` (descending factors) that keeps it at or above one, with the
/// fewest decimals that lose nothing.
pub(crate) fn print(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let (factor, unit) =
        units.iter().copied().find(|(factor, _)| value >= *factor).unwrap_or(units[units.len() - 1]);
    let whole = value / factor;
    let rest = value % factor;
    if rest == 0 {
        return write!(f, "{whole} {unit}");
    }
    let digits = (0..20).take_while(|&d| 10u64.pow(d) < factor).count();
    let fraction = format!("{:0digits$}", u128::from(rest) * 10u128.pow(digits as u32) / u128::from(factor));
    write!(f, "{whole}.{} {unit}", fraction.trim_end_matches('0'))
}
