#!/bin/sh
# Runs Redis, with more options if they are given, and with the password that stands
# in the URL in the file REDIS_URL_FILE. It keeps nothing on disk: what it counts is
# a second old at the most.
set -eu
umask 077

config=$(mktemp)
{
	sed -n 's|^redis://[^:]*:\([^@]*\)@.*|requirepass \1|p' "$REDIS_URL_FILE"
	printf 'save ""\nappendonly no\ndir /tmp\nmaxmemory 128mb\nmaxmemory-policy volatile-ttl\n'
} >"$config"
exec redis-server "$config" "$@"
