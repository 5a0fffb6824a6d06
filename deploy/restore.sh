#!/bin/sh
# Unpacks a backup, named by its directory in BACKUP_DIR or else the newest one,
# into PGDATA, which must be empty: nothing is ever overwritten.
set -eu

name=${1:-$(cd "$BACKUP_DIR" && ls -1d ????-??-??T??????Z | sort | tail -n 1)}
from=$BACKUP_DIR/$name
if [ ! -s "$from/base.tar.gz" ]; then
	echo "there is no backup $from" >&2
	exit 1
fi
if [ -n "$(ls -A "$PGDATA" 2>/dev/null)" ]; then
	echo "$PGDATA is not empty; move it away first" >&2
	exit 1
fi
mkdir -p "$PGDATA"
tar -xzf "$from/base.tar.gz" -C "$PGDATA"
tar -xzf "$from/pg_wal.tar.gz" -C "$PGDATA/pg_wal"
chmod 700 "$PGDATA"
[ "$(id -u)" != 0 ] || chown -R postgres: "$PGDATA"
echo "$from is restored to $PGDATA"
