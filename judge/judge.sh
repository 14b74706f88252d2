cd /tmp/w/bond; b=$1
g() { echo "== $*"; timeout 200 /tmp/$b "$@" 2>/dev/null | grep -E "goodput|panicked|drops_queue: [1-9]|Some\(\"lte" | sed -E 's/link LinkRow \{ name: "([a-z]*)", direction: "([^"]*)", bytes: [0-9]*, packets: [0-9]*, (drops_queue: [0-9]*).*/\1 \2 \3/; s/Some\("lte"\) BondTraffic \{ sent_packets: ([0-9]*).*/lte sent \1/' | cut -c1-190 | paste -sd' ' ; }
D='scenario.duration=120 s'
g tcp "$D" 'bonds.home.paths=[{ link = "dsl", cost = 1 }]'
g tcp "$D" links.lte.delay="40 ms"
g tcp "$D" links.lte.delay="40 ms" "links.lte.rate=10 Mbit/s"
g tcp
g tcp 'connections.video.tcp={ congestion_control = "newreno" }'
g tcp links.lte.rate="2 Mbit/s" links.lte.delay="40 ms" links.lte.loss="1 %"
g tcp links.lte.loss="1 %"
g bonds.home.scheduler=cost-first
g bonds.home.scheduler=cost-first 'connections.video.application={ kind = "constant-rate", rate = "50 Mbit/s", duration = "19 s" }'
g bonds.home.scheduler=rate-aware 'connections.video.application={ kind = "constant-rate", rate = "110 Mbit/s", duration = "19 s" }' links.lte.delay="17.5 ms" links.lte.jitter=none
g tcp links.dsl.queue="5 packets" links.lte.queue="5 packets"
g tcp links.lte.rate="20 Mbit/s" links.lte.delay="6.25 ms"
