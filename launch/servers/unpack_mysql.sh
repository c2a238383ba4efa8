#!/bin/sh
# Unpack a MySQL and a Valkey of Debian's unstable suite into .mysql/, with all libraries that they
# need. Nothing is installed, and it works without root. Versions move with the suite: remove
# .mysql/ to get the current ones.
set -eu

PACKAGES="mysql-server-core valkey-server valkey-tools"
PROGRAMS="mysqld valkey-server valkey-benchmark"
NEW=$PWD/.mysql-new

give_up() {
    echo "No MySQL: $1" >&2
    exit 1
}

# shellcheck source=launch/servers/debian.sh
. "${0%/*}/debian.sh"

download() {
    # shellcheck disable=SC2086
    apt-get update -qq &&
        apt-get install -qq --download-only --no-install-recommends $PACKAGES >"$NEW/apt/log"
}

# A program of another release runs with that release's own loader.
unpack() {
    for package in "$NEW"/apt/archives/*.deb; do
        dpkg-deb --extract "$package" "$NEW"
    done
    rm -r "$NEW/apt"
    mkdir "$NEW/bin"
    for program in $PROGRAMS; do
        cat >"$NEW/bin/$program" <<'EOF'
#!/bin/sh
usr=$(dirname "$(dirname "$(readlink -f "$0")")")/usr
libraries=$(echo "$usr"/lib/*-linux-gnu*)
exec "$libraries"/ld-linux*.so.* --library-path "$libraries:$usr/lib/mysql/private" \
    "$usr"/*bin/"${0##*/}" "$@"
EOF
        chmod +x "$NEW/bin/$program"
    done
}

if [ ! -d .mysql ]; then
    check_system
    uri=$(mirror)
    [ -n "$uri" ] || give_up "the system's apt sources name no Debian mirror"
    trap 'rm -rf "$NEW"' EXIT
    rm -rf "$NEW"
    configure_apt "$NEW/apt" "$uri" unstable
    download || give_up "$uri doesn't give its suite unstable; is there a network?"
    unpack
    mv "$NEW" .mysql
fi
.mysql/bin/mysqld --version
.mysql/bin/valkey-server --version
