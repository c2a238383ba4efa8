#!/bin/sh
# The first process of the engine's namespaces (engine.sh): network, engine, images, command.
set -eu

engine=$FOLDER/engine
export DOCKER_HOST="unix://$engine/docker.sock" DOCKER_CONFIG="$engine/config"

give_up() {
    echo "No containers: $1" >&2
    exit 1
}

# shellcheck source=launch/servers/debian.sh
. launch/servers/debian.sh

connect() {
    until ip address add "$THEIRS/30" dev "$LINK" 2>/dev/null; do sleep 0.1; done
    ip link set lo up
    ip link set "$LINK" up
    ip route add default via "$OURS"
}

start_engine() {
    # The only folders that dockerd and containerd use and no option moves.
    mount --mkdir -t tmpfs tmpfs /run/containerd
    mount --mkdir -t tmpfs tmpfs /etc/docker
    dockerd --host="$DOCKER_HOST" --data-root="$engine/data" --exec-root="$engine/run" \
        --pidfile="$engine/pid" --cgroup-parent="/$LINK" --exec-opt=native.cgroupdriver=cgroupfs \
        >"$FOLDER/engine.log" 2>&1 &
    until docker info >/dev/null 2>&1; do
        kill -0 $! 2>/dev/null || give_up "the engine ended; see $FOLDER/engine.log"
        sleep 0.2
    done
}

# Compose v2 and BuildKit's client are programs without libraries, and came after this release.
take_plugins() (
    [ ! -d "$FOLDER/cli-plugins" ] || exit 0
    configure_apt "$engine/apt" "$mirror" "$PLUGINS_SUITE"
    cd "$engine/apt"
    apt-get update -qq && apt-get download -qq docker-compose docker-buildx ||
        give_up "$mirror doesn't give its suite $PLUGINS_SUITE; is there a network?"
    for package in *.deb; do
        dpkg-deb --extract "$package" plugins
    done
    mv plugins/usr/libexec/docker/cli-plugins "$FOLDER/"
)

PLUGINS_SUITE=trixie
check_system
mirror=$(mirror)
[ -n "$mirror" ] || give_up "the system's apt sources name no Debian mirror"
connect
start_engine
take_plugins
mkdir "$DOCKER_CONFIG"
ln -s "$FOLDER/cli-plugins" "$DOCKER_CONFIG/"
. tests/containers/images.sh
exec "$@"
