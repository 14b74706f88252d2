//! Keys, their text, and the files that hold them.

use crate::session::noise;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Octets of every key.
pub const LEN: usize = 32;
/// Bits of a file's mode that give access to others than its owner.
const OTHERS: u32 = 0o077;

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Its name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others may read it.
    #[error("{path}: its mode is {mode:03o}, expected 600: chmod 600 {path}")]
    Mode {
        /// Its name.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file holds no key.
    #[error("{path}: no key, expected 44 characters of base64, as `keygen` writes them")]
    Text {
        /// The file.
        path: PathBuf,
    },
}

/// A key that everybody may know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; LEN]);

/// A secret key: a private one, or one that two ends share. Its memory is wiped when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SecretKey(pub [u8; LEN]);

/// Text that is no key.
#[derive(Debug, thiserror::Error)]
#[error("a key: 44 characters of base64")]
pub struct NoKey;

fn decode(text: &str) -> Result<[u8; LEN], NoKey> {
    let octets = STANDARD.decode(text.trim()).map_err(|_| NoKey)?;
    octets.try_into().map_err(|_| NoKey)
}

impl FromStr for PublicKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        decode(text).map(Self)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

impl SecretKey {
    /// The public key that belongs to it.
    pub fn public(&self) -> PublicKey {
        PublicKey(noise::public(&self.0))
    }

    /// Reads a key from a file that only its owner may access.
    ///
    /// # Errors
    /// [`KeyError`]
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::Io { path: path.to_owned(), source };
        let mode = fs::metadata(path).map_err(failed)?.mode() & 0o777;
        if mode & OTHERS != 0 {
            return Err(KeyError::Mode { path: path.to_owned(), mode });
        }
        let mut text = fs::read_to_string(path).map_err(failed)?;
        let key = decode(&text).map_err(|_| KeyError::Text { path: path.to_owned() });
        text.zeroize();
        key.map(Self)
    }

    /// Writes the key into a new file of mode 600.
    ///
    /// # Errors
    /// [`KeyError::Io`], also if the file exists.
    pub fn write(&self, path: &Path) -> Result<(), KeyError> {
        let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let mut text = STANDARD.encode(self.0);
        let written = open.and_then(|mut file| writeln!(file, "{text}"));
        text.zeroize();
        written.map_err(|source| KeyError::Io { path: path.to_owned(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_comes_back_from_its_file_and_not_from_one_that_others_may_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let key = SecretKey([7; LEN]);
        key.write(&path).expect("a new file");
        assert_eq!(SecretKey::read(&path).expect("a key").0, key.0);
        assert!(matches!(key.write(&path), Err(KeyError::Io { .. })), "no key is overwritten");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("its owner may");
        assert!(matches!(SecretKey::read(&path), Err(KeyError::Mode { mode: 0o640, .. })));
    }

    /// The expected public key is from OpenSSL 3: `openssl pkey -pubout`.
    #[test]
    fn public_keys_are_those_of_x25519() {
        let hex = |text: &str| {
            let octets = (0..32).map(|place| u8::from_str_radix(&text[2 * place..][..2], 16).expect("hex"));
            <[u8; 32]>::try_from(octets.collect::<Vec<_>>()).expect("32 octets")
        };
        let secret = SecretKey(hex("77076d0a7318a57d3c16c17251b26645df4c2f92ebc0992ac177fba51db92c2a"));
        let public = hex("f8a9535a2d2ff605e8e144d54f4ef5c62313a2055dbb21fddd3fd9c299eb015d");
        assert_eq!(secret.public().0, public);
    }
}
