#!/bin/sh
# Exit with 0 if all that the options of compose.yaml name is so.
set -eu

replication() {
    mariadb --user=root --execute='SHOW SLAVE STATUS\G' | sed -n "s/^ *$1: //p"
}

for option; do
    case $option in
    --connect) mariadb-admin --user=root --silent ping ;;
    --innodb_initialized) mariadb --user=root --execute="SELECT 1 FROM information_schema.innodb_metrics LIMIT 1" >/dev/null ;;
    --replication_io) [ "$(replication Slave_IO_Running)" = Yes ] ;;
    --replication_sql) [ "$(replication Slave_SQL_Running)" = Yes ] ;;
    --replication_seconds_behind_master=*) [ "$(replication Seconds_Behind_Master)" -le "${option#*=}" ] ;;
    --replication) ;;
    *) exit 2 ;;
    esac
done
