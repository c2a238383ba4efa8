#!/bin/sh
# Unpack a MySQL and a Valkey of Debian's unstable suite into .mysql/, with all libraries that they
# need. Nothing is installed, and it works without root. Versions move with the suite: remove
# .mysql/ to get the current ones.
set -eu

PACKAGES="mysql-server-core valkey-server valkey-tools"
PROGRAMS="mysqld valkey-server valkey-benchmark"
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
NEW=$PWD/.mysql-new

give_up() {
    echo "No MySQL: $1" >&2
    exit 1
}

check_system() {
    for tool in apt-get dpkg-deb; do
        command -v $tool >/dev/null || give_up "$tool is missing; this needs Debian"
    done
    # shellcheck source=/dev/null
    . /etc/os-release
    [ "$ID" = debian ] || give_up "this needs Debian; this system is $PRETTY_NAME"
    [ -r "$KEYS" ] || give_up "$KEYS is missing: apt-get install debian-archive-keyring"
}

# Print where this system takes Debian's packages from.
mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(RELEASE) $(REPO_URI)' |
        awk -v suites=" ${VERSION_CODENAME:-} stable testing unstable sid " \
            '$1 == "Packages" && $2 == "main" && index(suites, " " $3 " ") { print $4; exit }'
}

# Apt as on this system (its proxies, its logins), but with a suite, lists and a status of its own.
configure_apt() {
    apt=$NEW/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/apt.conf.d" "$apt/preferences.d"
    : >"$apt/status" # nothing is installed, so that every library comes too
    echo "deb [signed-by=$KEYS target=Packages] $1 unstable main" >"$apt/sources.list"
    {
        apt-config dump Acquire
        echo "Dir::Etc \"$apt\"; Dir::Etc::netrc \"/etc/apt/auth.conf\";"
        echo "Dir::Etc::netrcparts \"/etc/apt/auth.conf.d\"; Dir::Cache \"$apt\";"
        echo "Dir::State \"$apt\"; Dir::State::status \"$apt/status\"; Debug::NoLocking \"true\";"
        echo "APT::Sandbox::User \"$(id -un)\"; APT::Update::Error-Mode \"any\";"
    } >"$apt/apt.conf"
    export APT_CONFIG="$apt/apt.conf"
}

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
    configure_apt "$uri"
    download || give_up "$uri doesn't give its suite unstable; is there a network?"
    unpack
    mv "$NEW" .mysql
fi
.mysql/bin/mysqld --version
.mysql/bin/valkey-server --version
