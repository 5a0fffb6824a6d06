#!/bin/sh
# Runs RabbitMQ with the user and the password that stand in the file BROKERS_FILE, which
# is what Wakecall reads as WAKECALL_BROKERS. They are taken when the volume is new.
set -eu
umask 077

config=$(mktemp -d)/rabbitmq.conf
sed -n 's|.*amqp://\([^:]*\):\([^@]*\)@.*|default_user = \1\ndefault_pass = \2|p' "$BROKERS_FILE" >"$config"
export RABBITMQ_CONFIG_FILE="$config"
exec rabbitmq-server
