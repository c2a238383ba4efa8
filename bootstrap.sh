#!/bin/sh
# Create .venv/ with the packages of requirements-dev.txt; with the argument "servers", install the
# servers that the tests and the laboratory start; with "mysql", unpack MySQL and Valkey into
# .mysql/; with "k6", build k6 into var/bin; with "containers", install a Docker engine. Missing
# system packages are installed if possible (root, or sudo without a password), or else named.
# PYTHON3 is the Python for .venv/.
set -eu
cd "$(dirname "$0")"

K6=go.k6.io/k6@v1.8.1
PACKAGES="python3-venv python3-dev build-essential pkg-config default-libmysqlclient-dev"

# Version managers build Python without optimisations by default: programs run a sixth longer.
# Distributions build it with optimisations (docs/decisions/0008).
choose_python() {
    PYTHON3=python3
    system=/usr/bin/python3
    if slow_build && is_recent $system && { takes_packages $system || can_install; }; then
        PYTHON3=$system
        echo "Using $system: $(command -v python3) was built without optimisations (PYTHON3=python3 uses it anyway)."
    fi
}

slow_build() {
    [ "$(command -v python3)" != /usr/bin/python3 ] &&
        python3 -c 'import sysconfig; exit("--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or ""))'
}

is_recent() {
    "$1" -c 'import sys; exit(sys.version_info < (3, 11))' 2>/dev/null
}

takes_packages() {
    "$1" -c 'import ensurepip' 2>/dev/null &&
        "$1" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null
}

complete() {
    takes_packages "$PYTHON3" &&
        command -v cc >/dev/null &&
        command -v pkg-config >/dev/null &&
        { pkg-config --exists mysqlclient || pkg-config --exists libmariadb || pkg-config --exists mariadb; }
}

can_install() {
    command -v apt-get >/dev/null && as_root true 2>/dev/null
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install() {
    if can_install; then
        echo "Installing $*"
        log=$(mktemp)
        {
            as_root apt-get update -qq &&
                as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
        } >"$log" 2>&1 || {
            cat "$log" >&2
            exit 1
        }
        rm "$log"
    else
        echo "Install the missing packages, then try again: apt-get install $*" >&2
        exit 1
    fi
}

[ "${1:-}" != mysql ] || exec sh launch/servers/unpack_mysql.sh

if [ "${1:-}" = servers ]; then
    PATH="$PATH:/usr/sbin:/usr/local/sbin:/sbin"
    set --
    command -v mariadbd >/dev/null || command -v mysqld >/dev/null || set -- "$@" mariadb-server
    command -v postgres >/dev/null || [ -n "$(find /usr/lib/postgresql -path '*/bin/postgres' 2>/dev/null)" ] || set -- "$@" postgresql
    command -v redis-server >/dev/null || command -v valkey-server >/dev/null || set -- "$@" redis-server
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || command -v rabbitmq-server >/dev/null || set -- "$@" rabbitmq-server
    command -v nginx >/dev/null || set -- "$@" nginx
    command -v haproxy >/dev/null || set -- "$@" haproxy
    command -v promtool >/dev/null || set -- "$@" prometheus
    command -v chromium >/dev/null || set -- "$@" chromium
    command -v chromedriver >/dev/null || set -- "$@" chromium-driver
    command -v curl >/dev/null || set -- "$@" curl
    [ $# -eq 0 ] || install "$@"
    exit 0
fi

if [ "${1:-}" = containers ]; then
    PATH="$PATH:/usr/sbin:/sbin"
    set --
    command -v dockerd >/dev/null || set -- "$@" docker.io
    command -v iptables >/dev/null || set -- "$@" iptables
    command -v ip >/dev/null || set -- "$@" iproute2
    command -v debootstrap >/dev/null || set -- "$@" debootstrap
    [ $# -eq 0 ] || install "$@"
    exit 0
fi

if [ "${1:-}" = k6 ]; then
    command -v go >/dev/null || { echo "building k6 needs Go: install Go, or k6 itself" >&2; exit 1; }
    GOBIN="$PWD/var/bin" go install "$K6"
    exit 0
fi

[ -n "${PYTHON3:-}" ] || choose_python
# shellcheck disable=SC2086
complete || install $PACKAGES

[ -x .venv/bin/pip ] || "$PYTHON3" -m venv --clear .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -c constraints.txt
