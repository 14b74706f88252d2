//! The words of packet scripts.

use ropewalk_wire::Flags;
use std::str::FromStr;

/// A number.
///
/// # Panics
/// If it is none.
pub fn number<T: FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("not a number: {word}"))
}

/// Two numbers with `separator` between them.
///
/// # Panics
/// If they are not there.
pub fn pair(word: &str, separator: char) -> (u32, u32) {
    let (a, b) = word.split_once(separator).unwrap_or_else(|| panic!("no {separator:?} in {word}"));
    (number(a), number(b))
}

/// A segment's flags, a letter each; `-` is none.
///
/// # Panics
/// At another letter.
pub fn flags(word: &str) -> Flags {
    let flag = |letter| match letter {
        'S' => Flags::SYN,
        'F' => Flags::FIN,
        'R' => Flags::RST,
        'P' => Flags::PSH,
        '.' => Flags::ACK,
        'E' => Flags::ECE,
        'W' => Flags::CWR,
        '-' => Flags::NONE,
        _ => panic!("no flag: {letter}"),
    };
    word.chars().fold(Flags::NONE, |flags, letter| flags | flag(letter))
}
