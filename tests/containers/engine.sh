#!/bin/sh
# Run a command beside a Docker engine of its own: sh tests/containers/engine.sh COMMAND...
# Engine, containers and command have their own network, mounts and process ids: their ports and
# rules are not this machine's, and the kernel ends all of them with the first process. Nothing
# stays but var/containers, with the stand-in images. Needs root, and a Debian mirror.
set -eu
cd "${0%/*}/../.."

LINK=feed-engine # to the network of the engine
OURS=10.231.77.1
THEIRS=10.231.77.2
FOLDER=$PWD/var/containers
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH # Debian's docker, not another one
export LINK OURS THEIRS FOLDER PATH

rules() { # -I or -D
    iptables --table nat "$1" POSTROUTING --source $THEIRS --jump MASQUERADE
    iptables "$1" FORWARD --in-interface $LINK --jump ACCEPT
    iptables "$1" FORWARD --out-interface $LINK --jump ACCEPT
}

remove() {
    # The first process in there; it is gone when all others are.
    first=$(cat "/proc/${engine:=none}/task/$engine/children" 2>/dev/null || true)
    [ -z "$first" ] || kill -KILL $first 2>/dev/null || true
    wait
    rules -D 2>/dev/null || true
    [ -z "${forwarding:-}" ] || echo "$forwarding" >/proc/sys/net/ipv4/ip_forward
    rm -rf "$FOLDER/engine"
    rmdir /run/containerd 2>/dev/null || true # made for a mount; another engine's isn't empty
    find /sys/fs/cgroup -depth -type d -path "*/$LINK*" -exec rmdir {} +
}

[ "$(id -u)" -eq 0 ] || { echo "This needs root: it makes a network and starts a Docker engine." >&2; exit 1; }
mkdir -p "$FOLDER"
exec 9>"$FOLDER/lock"
flock --nonblock 9 || { echo "Another engine is running in $FOLDER." >&2; exit 1; }

remove # what a killed one left
trap remove EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$FOLDER/engine"
unshare --net --mount --pid --fork --kill-child --mount-proc sh tests/containers/inside.sh "$@" &
engine=$!
until [ "$(readlink /proc/$engine/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
ip link add $LINK type veth peer name $LINK netns $engine
ip address add $OURS/30 dev $LINK
ip link set $LINK up
forwarding=$(cat /proc/sys/net/ipv4/ip_forward)
echo 1 >/proc/sys/net/ipv4/ip_forward
rules -I
wait $engine
