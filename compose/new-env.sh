#!/bin/sh
# Make compose/.env from the example, with random keys and passwords. Keeps one that exists.
set -eu
cd "$(dirname "$0")"
umask 077

random() {
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

[ ! -e .env ] || { echo "compose/.env exists" >&2; exit 1; }
while IFS= read -r line; do
    case $line in
    SECRET_KEY= | *_PASSWORD=) line=$line$(random) ;;
    esac
    printf '%s\n' "$line"
done <.env.example >.env
