# What becomes of two gateways that systemd has started. Each finding is a file in /mnt.
cd /mnt
unit() { systemctl "$@"; }
status() { ropewalk-gateway status --control "/run/ropewalk-gateway/$1.sock"; }
# Waits up to 10 s for a session of the site.
session() {
    for _ in $(seq 100); do
        status bond1 | grep -q '"state":"up"' && return
        sleep 0.1
    done
}
session
status bond0 > hub
status bond1 > site
before=$(unit show -p MainPID ropewalk-gateway@site)
cat "/proc/${before#*=}/status" > process
unit kill -s KILL ropewalk-gateway@site
# The unit starts it again after a second.
sleep 1.5
session
status bond1 > again
[ "$(unit show -p MainPID ropewalk-gateway@site)" != "$before" ] && touch another
unit stop ropewalk-gateway@site
status bond0 > hub-alone
unit stop ropewalk-gateway@hub
unit show -p Result ropewalk-gateway@site ropewalk-gateway@hub > results
ip rule > rules
ip link > links
ls /run/ropewalk-gateway > sockets
ls /var/lib/ropewalk-gateway > state
touch end
systemctl poweroff --force --force
