# Boots systemd in namespaces of its own, over a copy of this machine's files that is thrown away.
# Arguments: a folder, the gateway, the folder `dist`. `look.sh` says into FOLDER/seen what it finds.
set -e
folder=$1 gateway=$2 dist=$3 root=$1/root
mount --make-rprivate /
mkdir "$folder/new" "$root" "$folder/seen"
mount -t tmpfs tmpfs "$folder/new"
mkdir "$folder/new/files" "$folder/new/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/new/files,workdir=$folder/new/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount --bind "$folder/seen" "$root/mnt"
# As udev leaves it.
mount -t tmpfs tmpfs "$root/dev/net"
mknod -m 666 "$root/dev/net/tun" c 10 200
touch "$folder/seen/mounted"
cp "$gateway" "$root/usr/bin/ropewalk-gateway"
cp "$dist/ropewalk-gateway@.service" "$root/etc/systemd/system/"
cp "$dist/debian/postinst" "${0%/*}/look.sh" "$root/root/"
ip link set lo up
for host in 1 2 3; do ip address add "192.0.2.$host/32" dev lo; done
cat > "$root/root/configure.sh" <<'CONFIGURE'
set -e
getent passwd ropewalk || useradd --system --user-group --no-create-home ropewalk
PATH=/root:$PATH sh /root/postinst configure
cd /etc/ropewalk
hub=$(ropewalk-gateway keygen hub.key) site=$(ropewalk-gateway keygen site.key)
ropewalk-gateway keygen psk
chown ropewalk hub.key site.key psk
cat > hub.toml <<HUB
[gateway]
role = "hub"
key = "hub.key"
tun = "bond0"
addresses = ["10.9.0.1/24"]
listen = ["192.0.2.1:4500"]
mark = 101
[[sites]]
name = "branch"
key = "$site"
psk = "psk"
prefixes = ["10.9.0.2/32"]
HUB
cat > site.toml <<SITE
[gateway]
role = "site"
key = "site.key"
tun = "bond1"
addresses = ["10.9.0.2/32"]
mark = 102
[hub]
key = "$hub"
psk = "psk"
address = "192.0.2.1:4500"
[[paths]]
name = "dsl"
address = "192.0.2.2"
quota = "5 GB"
[[paths]]
name = "lte"
address = "192.0.2.3"
SITE
cd /etc/systemd/system
printf '[Unit]\nRequires=ropewalk-gateway@hub.service ropewalk-gateway@site.service\n' > both.target
printf '[Unit]\n' > network-online.target
CONFIGURE
chroot "$root" sh /root/configure.sh
chroot "$root" sh /root/look.sh &
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin container=other \
    /usr/lib/systemd/systemd --system --unit=both.target --log-target=kmsg --show-status=no
