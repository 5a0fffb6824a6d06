#!/bin/sh
# Runs Redis with the password that stands in the URL in the file REDIS_URL_FILE.
# It keeps nothing on disk: what it counts is a second old at the most.
set -eu

password=$(sed -n 's|^redis://[^:]*:\([^@]*\)@.*|\1|p' "$REDIS_URL_FILE")
printf 'requirepass %s\nsave ""\nappendonly no\nmaxmemory 128mb\nmaxmemory-policy volatile-ttl\n' "$password" | exec redis-server -
