#!/bin/sh
# Copies the whole database server, as it is at one instant, into a new directory
# in BACKUP_DIR that is named by the time, and removes all but the newest
# BACKUP_KEEP. Libpq's variables say how to reach the server; the password is in the
# file PGPASSWORD_FILE. See docs/backup.md.
set -eu
umask 077

PGPASSWORD=$(cat "$PGPASSWORD_FILE")
export PGPASSWORD

name=$(date -u +%Y-%m-%dT%H%M%SZ)
# A copy that is not whole never goes by the name of one that is.
rm -rf "$BACKUP_DIR"/*.partial
trap 'rm -rf "$BACKUP_DIR/$name.partial"' EXIT
pg_basebackup --pgdata "$BACKUP_DIR/$name.partial" --format tar --gzip --wal-method stream --checkpoint fast --no-password
gzip --test "$BACKUP_DIR/$name.partial"/*.gz
sync
mv "$BACKUP_DIR/$name.partial" "$BACKUP_DIR/$name"

# Names sort by time.
ls -1d "$BACKUP_DIR"/????-??-??T??????Z | sort -r | tail -n +"$((BACKUP_KEEP + 1))" | while read -r old; do
	rm -rf "$old"
done
echo "$BACKUP_DIR/$name"
