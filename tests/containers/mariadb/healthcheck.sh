#!/bin/sh
# Exit with 0 if all that the options of compose.yaml name is so.
set -eu

for option; do
    case $option in
    --connect) mariadb-admin --user=root --silent ping ;;
    --innodb_initialized) mariadb --user=root --execute="SELECT 1 FROM information_schema.innodb_metrics LIMIT 1" >/dev/null ;;
    *) exit 2 ;;
    esac
done
