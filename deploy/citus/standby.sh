#!/bin/bash
# The entry point of a standby of $PRIMARY: copies it when there is nothing yet, then follows it.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    until gosu postgres pg_basebackup -h "$PRIMARY" -D "$PGDATA" --write-recovery-conf --wal-method=stream --checkpoint=fast; do
        sleep 1
    done
    chmod 700 "$PGDATA"
fi
exec docker-entrypoint.sh "$@"
