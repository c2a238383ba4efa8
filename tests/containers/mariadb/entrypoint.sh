#!/bin/sh
# Start MariaDB; on an empty volume, first with the user and the SQL files that
# the environment and /docker-entrypoint-initdb.d name. Arguments are options of the server.
set -eu
data=/var/lib/mysql

statements() {
    echo "CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';"
    sed '/^--/d' /docker-entrypoint-initdb.d/*.sql
}

if [ ! -e $data/prepared ]; then
    mariadb-install-db --datadir=$data --skip-test-db --auth-root-authentication-method=normal >/dev/null
    (umask 077 && statements >/tmp/init.sql)
    touch $data/prepared
    set -- --init-file=/tmp/init.sql "$@" # runs before the server takes connections
fi
exec mariadbd --datadir=$data --bind-address=0.0.0.0 "$@"
