#!/bin/sh
# Copies the whole database server, as it is at one instant, into a new directory
# in BACKUP_DIR that is named by the time, and removes all but the newest
# BACKUP_KEEP. Libpq's variables say how to reach the server; the password is in the
# file PGPASSWORD_FILE. Fails while another one runs on the same directory. See
# docs/backup.md.
set -eu
umask 077

# None to keep, or a word, would remove every backup, the new one with them.
case $BACKUP_KEEP in
'' | 0* | *[!0-9]* | ??????????*)
	echo "BACKUP_KEEP is \"$BACKUP_KEEP\"; it must be a whole number from 1 to 999999999" >&2
	exit 1
	;;
esac

mkdir -p "$BACKUP_DIR"
# The kernel lets go of the lock when whoever has it ends, however it ends.
exec 9>>"$BACKUP_DIR/.lock"
if ! flock -n 9; then
	echo "a backup to $BACKUP_DIR is running; nothing was done" >&2
	exit 1
fi

PGPASSWORD=$(cat "$PGPASSWORD_FILE")
export PGPASSWORD

name=$(date -u +%Y-%m-%dT%H%M%SZ)
# A copy that is not whole never goes by the name of one that is. Nobody is writing
# what lies here: only who has the lock does.
rm -rf "$BACKUP_DIR"/????-??-??T??????Z.partial
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
