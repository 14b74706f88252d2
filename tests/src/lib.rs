//! What the tests that cross crates share: where the workspace is, and what it consists of.

pub mod modules;
mod simulate;

pub use simulate::{goodput, half_width, jain, mean, simulate, simulate_series};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in the workspace")
}

/// A file or folder of the material beside the repository; `None`, with a notice, when it is not there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let path = root().join("../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// The workspace's packages, as `cargo metadata` lists them; nothing is downloaded.
///
/// # Panics
/// If cargo fails.
pub fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    match metadata["packages"].take() {
        Value::Array(packages) => packages,
        other => panic!("packages are a list, not {other}"),
    }
}
