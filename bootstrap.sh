#!/bin/sh
# Make .venv/ with everything in requirements-dev.txt. What the system lacks for that is installed
# where that may be done (root, or sudo that asks for no password), and else named.
set -eu
cd "$(dirname "$0")"

PACKAGES="python3-venv python3-dev build-essential pkg-config default-libmysqlclient-dev"

complete() {
    python3 -c 'import ensurepip' 2>/dev/null &&
        python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null &&
        command -v cc >/dev/null &&
        command -v pkg-config >/dev/null &&
        { pkg-config --exists mysqlclient || pkg-config --exists libmariadb || pkg-config --exists mariadb; }
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

if ! complete; then
    if command -v apt-get >/dev/null && as_root true 2>/dev/null; then
        as_root apt-get update -qq
        # shellcheck disable=SC2086
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $PACKAGES
    else
        echo "Install what the build of mysqlclient needs, then try again: apt-get install $PACKAGES" >&2
        exit 1
    fi
fi

[ -x .venv/bin/pip ] || python3 -m venv --clear .venv
.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
