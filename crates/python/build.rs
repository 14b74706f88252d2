//! Puts the scenarios of the repository into the extension, so that an installed package has them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut text = String::from("pub(crate) const FILES: &[(&str, &str)] = &[\n");
    for file in files(&folder) {
        let name = file.strip_prefix(&folder).expect("it is in the folder").display().to_string();
        let path = file.canonicalize().expect("it exists");
        println!("cargo:rerun-if-changed={}", path.display());
        writeln!(text, "    ({name:?}, include_str!({path:?})),").expect("a String takes everything");
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("examples.rs"), text).expect("cargo's folder is writable");
}

/// All files below a folder, in order of their paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the repository has scenarios");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
