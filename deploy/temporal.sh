#!/bin/sh
# Runs what the image of Temporal's server runs, with the database's password from
# a file, which the image does not read itself.
set -eu

POSTGRES_PWD=$(cat "$POSTGRES_PWD_FILE")
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
