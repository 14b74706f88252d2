//! The status page in a headless browser.

use crate::net::{GATEWAY, Net, possible, shell};

#[test]
fn a_browser_shows_paths_and_events() {
    let browser = "$(command -v chromium || command -v chromium-browser || command -v google-chrome)";
    if !possible() {
        return;
    }
    if !shell(&format!("test -n \"{browser}\"")).status.success() {
        println!("skipped: there is no Chromium");
        return;
    }
    let net = Net::with_tunnel();
    let control = format!("--control {}", net.path("site.sock").display());
    assert!(shell(&format!("{GATEWAY} path {control} set lte --quota '50 MB'")).status.success());
    let picture = std::env::var("ROPEWALK_PICTURE").map(|file| format!("--screenshot={file}"));
    // With a picture the browser gives no text, so it runs twice.
    let look = |what: &str| {
        let profile = net.path("profile");
        let command = format!(
            "{browser} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --window-size=1280,1000 \
             --user-data-dir={} --timeout=4000 --virtual-time-budget=4000 {what} http://127.0.0.1:9464/",
            profile.display()
        );
        let output = net.inside("site", &format!("sh -c '{command}'"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    if let Ok(picture) = picture {
        assert!(net.transfer(20_000_000));
        look(&picture);
    }
    net.until("the page is filled", || {
        let text = look("--dump-dom");
        let has = |part: &str| text.contains(part);
        has("bond0 (site)")
            && has("1 of 1 sessions")
            && has("hub / dsl")
            && has("hub / lte")
            && has(" of 50.0 MB")
            && has("a session has begun")
    });
}
