//! What is installed with the daemon: its unit, as systemd starts it, manual pages, completions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const GATEWAY: &str = env!("CARGO_BIN_EXE_ropewalk-gateway");
const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn gateway(arguments: &[&str]) -> Output {
    Command::new(GATEWAY).args(arguments).output().expect("it was built")
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// Can systemd be booted in namespaces here? If not, says why.
fn possible() -> bool {
    let has = |command: &str| {
        let done = Command::new("sh").args(["-c", command]).output().expect("a shell");
        done.status.success()
    };
    let needed = [
        ("unshare --mount --pid --net --cgroup --fork true", "no namespaces can be made: it needs root"),
        ("test -x /usr/lib/systemd/systemd", "there is no systemd"),
        ("test -e /dev/net/tun && ip -V", "there is no /dev/net/tun, or no ip"),
        ("grep -q overlay /proc/filesystems", "the kernel has no overlayfs"),
    ];
    let missing = needed.into_iter().find(|(command, _)| !has(command));
    if let Some((_, why)) = missing {
        println!("skipped: {why}");
    }
    missing.is_none()
}

#[test]
fn systemd_starts_the_unit_and_starts_it_again() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let boot = Command::new("timeout")
        .args("60 unshare --mount --pid --net --cgroup --fork --kill-child sh".split(' '))
        .arg(Path::new(HERE).join("tests/package/boot.sh"))
        .args([folder.path(), Path::new(GATEWAY), &Path::new(HERE).join("dist")])
        .output()
        .expect("there is a shell");
    let seen = folder.path().join("seen");
    let said = format!("{}{}", text(&boot.stdout), text(&boot.stderr));
    if !seen.join("mounted").exists() {
        println!("skipped: {said}");
        return;
    }
    let see = |what: &str| fs::read_to_string(seen.join(what)).unwrap_or_else(|_| panic!("{what}: {said}"));
    for end in ["hub", "site", "again"] {
        assert_eq!(see(end).matches("\"state\":\"up\"").count(), 2, "{end}: {}", see(end));
    }
    let process = see("process");
    let line = |name: &str| process.lines().find(|line| line.starts_with(name)).expect("a status").to_owned();
    // CAP_NET_ADMIN and CAP_NET_RAW.
    assert!(line("CapEff").ends_with("0000000000003000"), "{process}");
    assert!(line("NoNewPrivs").ends_with('1') && line("Seccomp:").ends_with('2'), "{process}");
    assert!(!line("Uid").contains("\t0\t"), "{process}");
    assert!(seen.join("another").exists(), "another process: {said}");
    assert!(see("hub-alone").contains("\"role\":\"hub\""), "its socket stays when the other unit stops");
    assert_eq!(see("results").matches("Result=success").count(), 2, "{}", see("results"));
    assert!(!see("rules").contains("fwmark") && !see("links").contains("bond"), "{}", see("rules"));
    assert_eq!((see("sockets"), see("state")), (String::new(), "bond1.json\n".into()));
}

/// The names of the commands in the help.
fn commands() -> BTreeSet<String> {
    let help = text(&gateway(&["help"]).stdout);
    let list = help.split_once("Commands:\n").expect("a list").1.split("\n\n").next().unwrap_or_default();
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let names = list.lines().filter_map(name).filter(|name| name != "help").collect::<BTreeSet<_>>();
    assert!(names.contains("run") && names.contains("path"), "{help}");
    names
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(gateway(&["man", folder.path().to_str().expect("a name")]).status.success());
    for name in commands() {
        let page = folder.path().join(format!("ropewalk-gateway-{name}.1"));
        let page = fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(page.contains(".TH") && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    let own = text(&gateway(&["man"]).stdout);
    assert!(commands().iter().all(|name| own.contains(&format!("ropewalk\\-gateway\\-{name}(1)"))), "{own}");
}

#[test]
fn completions_know_each_command_and_shells_read_them() {
    for (shell, check) in [("bash", "bash -n"), ("zsh", "zsh -n"), ("fish", "fish --no-execute")] {
        let script = text(&gateway(&["completions", shell]).stdout);
        assert!(commands().iter().all(|name| script.contains(name)), "{shell}: {script}");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), &script).expect("it is this test's");
        let mut words = check.split(' ');
        let program = words.next().expect("a shell");
        match Command::new(program).args(words).arg(file.path()).output() {
            Ok(read) => assert!(read.status.success(), "{shell}: {}", text(&read.stderr)),
            Err(error) => println!("not read by {program}: {error}"),
        }
    }
}

/// Files that the package's description names and that no build makes.
#[test]
fn what_the_package_installs_is_there() {
    let manifest = fs::read_to_string(Path::new(HERE).join("Cargo.toml")).expect("this crate's");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let deb = &manifest["package"]["metadata"]["deb"];
    let asset = |asset: &toml::Value| asset[0].as_str().expect("a name").to_owned();
    let mut files = deb["assets"].as_array().expect("files").iter().map(asset).collect::<Vec<_>>();
    files.push(deb["license-file"][0].as_str().expect("a name").into());
    for script in ["postinst", "postrm"] {
        files.push(format!("{}/{script}", deb["maintainer-scripts"].as_str().expect("a folder")));
    }
    let kept = files.iter().filter(|file| !file.contains("target/")).collect::<Vec<_>>();
    assert!(kept.len() >= 6, "{files:?}");
    kept.iter().for_each(|file| assert!(Path::new(HERE).join(file).exists(), "{file}"));
}
