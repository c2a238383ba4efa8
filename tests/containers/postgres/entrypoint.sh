#!/bin/sh
# Start PostgreSQL; with an empty volume, first without a network, for what
# /docker-entrypoint-initdb.d names. Arguments are the server and its options.
set -eu

if [ ! -e "$PGDATA/PG_VERSION" ]; then
    initdb --username=postgres
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    pg_ctl --options="${*#postgres} --listen_addresses=" start
    cat /docker-entrypoint-initdb.d/*.sql | psql --no-psqlrc --set=ON_ERROR_STOP=1
    pg_ctl stop
fi
exec "$@"
