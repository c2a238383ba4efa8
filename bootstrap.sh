#!/bin/sh
# Make .venv/ with everything in requirements-dev.txt; with the argument "servers", install the
# servers that the tests and the laboratory start for themselves. What the system lacks is
# installed where that may be done (root, or sudo that asks for no password), and else named.
# PYTHON3 says which Python .venv/ is made with.
set -eu
cd "$(dirname "$0")"

PACKAGES="python3-venv python3-dev build-essential pkg-config default-libmysqlclient-dev"

# Version managers build Pythons without optimisations unless told to: every request costs a sixth
# more. Distributions build theirs with them (docs/decisions/0029).
choose_python() {
    PYTHON3=python3
    if python3 -c 'import sysconfig; exit("--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or ""))' &&
        [ "$(command -v python3)" != /usr/bin/python3 ] &&
        /usr/bin/python3 -c 'import sys; exit(sys.version_info < (3, 11))' 2>/dev/null; then
        PYTHON3=/usr/bin/python3
        echo "Taking $PYTHON3: $(command -v python3) was built without optimisations (PYTHON3=python3 takes it all the same)."
    fi
}

complete() {
    "$PYTHON3" -c 'import ensurepip' 2>/dev/null &&
        "$PYTHON3" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null &&
        command -v cc >/dev/null &&
        command -v pkg-config >/dev/null &&
        { pkg-config --exists mysqlclient || pkg-config --exists libmariadb || pkg-config --exists mariadb; }
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install() {
    if command -v apt-get >/dev/null && as_root true 2>/dev/null; then
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    else
        echo "Install what is missing, then try again: apt-get install $*" >&2
        exit 1
    fi
}

if [ "${1:-}" = servers ]; then
    PATH="$PATH:/usr/sbin:/usr/local/sbin:/sbin"
    set --
    command -v mariadbd >/dev/null || command -v mysqld >/dev/null || set -- "$@" mariadb-server
    command -v redis-server >/dev/null || command -v valkey-server >/dev/null || set -- "$@" redis-server
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || command -v rabbitmq-server >/dev/null || set -- "$@" rabbitmq-server
    command -v nginx >/dev/null || set -- "$@" nginx
    command -v promtool >/dev/null || set -- "$@" prometheus
    command -v chromium >/dev/null || set -- "$@" chromium
    command -v chromedriver >/dev/null || set -- "$@" chromium-driver
    [ $# -eq 0 ] || install "$@"
    exit 0
fi

[ -n "${PYTHON3:-}" ] || choose_python
# shellcheck disable=SC2086
complete || install $PACKAGES

[ -x .venv/bin/pip ] || "$PYTHON3" -m venv --clear .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
