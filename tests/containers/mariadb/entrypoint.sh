#!/bin/sh
# Start MariaDB; on an empty volume, first with the users, the SQL files and the primary that
# the environment and /docker-entrypoint-initdb.d name. Arguments are options of the server.
set -eu
data=/var/lib/mysql

statements() {
    if [ -n "${MARIADB_MASTER_HOST:-}" ]; then
        echo "CHANGE MASTER TO MASTER_HOST='$MARIADB_MASTER_HOST', MASTER_USE_GTID=slave_pos," \
            "MASTER_USER='$MARIADB_REPLICATION_USER', MASTER_CONNECT_RETRY=1," \
            "MASTER_PASSWORD='$MARIADB_REPLICATION_PASSWORD';"
        echo "START SLAVE;"
        return
    fi
    echo "CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';"
    [ -z "${MARIADB_REPLICATION_USER:-}" ] ||
        echo "GRANT REPLICATION SLAVE ON *.* TO '$MARIADB_REPLICATION_USER'@'%'" \
            "IDENTIFIED BY '$MARIADB_REPLICATION_PASSWORD';"
    sed '/^--/d' /docker-entrypoint-initdb.d/*.sql
}

if [ ! -e $data/prepared ]; then
    mariadb-install-db --datadir=$data --skip-test-db --auth-root-authentication-method=normal >/dev/null
    (umask 077 && statements >/tmp/init.sql)
    touch $data/prepared
    set -- --init-file=/tmp/init.sql "$@" # runs before the server takes connections
fi
exec mariadbd --datadir=$data --bind-address=0.0.0.0 "$@"
