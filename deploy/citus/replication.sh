#!/bin/bash
# Run once, when a primary's database is made: its standby may copy and follow it.
set -euo pipefail
echo 'host replication all samenet scram-sha-256' >>"$PGDATA/pg_hba.conf"
