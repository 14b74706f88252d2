//! Files that are right, and mistakes told with their places.

use super::*;
use tempfile::TempDir;

const SITE: &str = r#"
[gateway]
role = "site"
key = "site.key"
tun = "bond0"
addresses = ["10.9.0.2/24"]
routes = ["10.0.0.0/8"]

[hub]
key = "KEY"
psk = "site.key"
address = "203.0.113.5:4500"

[bond]
scheduler = "cost-first"
keepalive = { interval = "50 ms" }

[[paths]]
name = "dsl"
interface = "eth0"
cost = 1

[[paths]]
name = "lte"
address = "192.0.2.7"
cost = 2
mtu = 1492
"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    SecretKey([5; 32]).write(&folder.path().join("site.key")).expect("a new file");
    folder
}

fn parse(text: &str) -> Result<Config, Mistake> {
    let folder = folder();
    let text = text.replace("KEY", &SecretKey([6; 32]).public().to_string());
    Config::parse(&folder.path().join("site.toml"), &text, [0, 0])
}

fn mistake(text: &str) -> String {
    let mistake = parse(text).err().expect("a mistake");
    mistake.to_string().rsplit('/').next().expect("a name").to_owned()
}

#[test]
fn a_site_is_read() {
    let config = parse(SITE).unwrap_or_else(|mistake| panic!("{mistake}"));
    // 1492 − 20 − 8 − 32 − 20
    assert_eq!((config.tun.name.as_str(), config.tun.mtu), ("bond0", 1412));
    let Part::Site { config, lines } = config.part else { panic!("it is a site") };
    assert_eq!(
        (lines[0].interface.as_deref(), lines[1].local.to_string()),
        (Some("eth0"), "192.0.2.7:0".into())
    );
    assert_eq!(config.bond.paths[1], PathConfig::new("lte", Some(2)));
    assert_eq!(config.bond.overhead, 80);
}

#[test]
fn mistakes_tell_line_column_key_and_what_is_expected() {
    let cases = [
        (
            SITE.replace("\"50 ms\"", "\"50\""),
            "site.toml:16:26: bond.keepalive: expected a time with its unit, as \"50 ms\"",
        ),
        (
            SITE.replace("role = \"site\"", "role = \"sight\""),
            "site.toml:3:8: gateway.role: expected something else: unknown variant `sight`",
        ),
        (
            SITE.replace("tun = \"bond0\"", "tun = \"\""),
            "site.toml:5:7: gateway.tun: expected a name of an interface",
        ),
        (
            SITE.replace("\nkey = \"KEY\"", "\nkey = \"short\""),
            "site.toml:10:7: hub.key: expected a public key",
        ),
        (SITE.replace("psk = \"site.key\"", "psk = \"none.key\""), "none.key: No such file"),
        (
            SITE.replace("mtu = 1492", "mtuu = 1492"),
            "site.toml:27:1: paths.mtuu: expected something else: unknown field `mtuu`",
        ),
        (SITE.replace("cost = 2", "cost = 1"), "site.toml:23:1: paths: expected"),
        (
            SITE.replace("address = \"203.0.113.5:4500\"\n", ""),
            "site.toml:17:1: paths: expected `remote` here",
        ),
    ];
    for (text, expected) in cases {
        let got = mistake(&text);
        assert!(got.contains(expected), "{got}\nand not\n{expected}");
    }
}

#[test]
fn a_hub_needs_sites_and_an_address() {
    let hub = "[gateway]\nrole = \"hub\"\nkey = \"site.key\"\ntun = \"bond0\"\n";
    assert!(mistake(hub).contains("gateway.listen: expected addresses"));
    let hub = format!("{hub}listen = [\"0.0.0.0:4500\"]\n");
    assert!(mistake(&hub).contains("sites: expected one table"));
    let site = "[[sites]]\nname = \"a\"\nkey = \"KEY\"\npsk = \"site.key\"\nprefixes = [\"10.9.0.2/32\"]\n";
    assert!(parse(&format!("{hub}{site}")).is_ok());
    assert!(mistake(&format!("{hub}{site}{site}")).contains("no other site has"));
}
