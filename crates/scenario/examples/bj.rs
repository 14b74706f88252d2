fn main() {
    let mut args = std::env::args().skip(1);
    let source = std::fs::read_to_string("scenarios/bonding.toml").unwrap();
    let mut overrides: Vec<(String, String)> = Vec::new();
    let mut seed = 1;
    let mut series = false;
    while let Some(arg) = args.next() {
        match &*arg {
            "tcp" => {
                for (k, v) in [
                    ("connections.video.protocol", "tcp"),
                    ("connections.video.application", "{ kind = \"bulk\" }"),
                    ("scenario.duration", "30 s"),
                    ("bonds.home.scheduler", "rate-aware"),
                    ("links.lte.delay", "17.5 ms"),
                    ("links.lte.jitter", "none"),
                ] {
                    overrides.push((k.into(), v.into()));
                }
            }
            "seed" => seed = args.next().unwrap().parse().unwrap(),
            "series" => series = true,
            _ => {
                let (k, v) = arg.split_once('=').unwrap();
                overrides.push((k.into(), v.into()));
            }
        }
    }
    let scenario = ropewalk_scenario::load(&source, None, &overrides).unwrap_or_else(|e| panic!("{e}"));
    let started = std::time::Instant::now();
    let outcome = ropewalk_scenario::run(
        &scenario,
        &ropewalk_scenario::RunOptions { seed: Some(seed), series, ..Default::default() },
    )
    .unwrap();
    for c in &outcome.connections {
        println!("{} goodput {:.2} rtx {:?} {:?}", c.name, c.goodput_mbps, c.error, c.datagrams);
    }
    for l in &outcome.links {
        println!("  link {:?}", l);
    }
    for b in outcome.bonds.iter().filter(|b| b.direction == "hub->cpe") {
        println!("  {:?} {:?} lost {} repaired {} {:?}", b.path, b.traffic, b.lost, b.repaired, b.egress);
    }
    if series {
        for s in outcome.bond_series.iter().filter(|s| s.row < 3) {
            println!(
                "{:.1} row {} sent {:.1} recv {:.1} lost {} depth {:?} {:?}",
                s.time.as_secs_f64(),
                s.row,
                s.sent_mbps,
                s.received_mbps,
                s.lost,
                s.depth,
                s.path
            );
        }
    }
    eprintln!("{:.1} s", started.elapsed().as_secs_f64());
}
