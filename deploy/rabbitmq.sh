#!/bin/sh
# Runs RabbitMQ with the user and the password of the broker in the file BROKERS_FILE whose
# host is rabbitmq, the service of docker-compose.yml. The file is what Wakecall reads as
# WAKECALL_BROKERS, and may name other brokers. They are taken when the volume is new.
set -eu
umask 077

refuse() {
	echo "$BROKERS_FILE: $1" >&2
	exit 1
}

work=$(mktemp -d)
grep -o '"amqp://[^"]*"' "$BROKERS_FILE" >"$work/urls" || [ -r "$BROKERS_FILE" ] || refuse "it cannot be read"
login=
while IFS= read -r url; do
	url=${url#'"amqp://'}
	authority=${url%%[/?#\"]*}
	host=${authority##*@}
	[ "${host%%:*}" = rabbitmq ] || continue
	found=${authority%@*}
	case $found in
	"$authority" | :* | *:) refuse "the URL of the host rabbitmq has no user and password" ;;
	*:*) ;;
	*) refuse "the URL of the host rabbitmq has no user and password" ;;
	esac
	[ "$found" = "${login:-$found}" ] || refuse "two URLs of the host rabbitmq have different users or passwords"
	login=$found
done <"$work/urls"
[ -n "$login" ] || refuse "no broker has a URL amqp://user:password@rabbitmq:5672/; leave the profile rabbitmq out for brokers of your own"
# What a client of the URL takes for a user and a password, and nothing else. A variable of
# Wakecall's environment, as in ${NAME}, is not known here.
printf '%s\n' "$login" | LC_ALL=C grep -Eqx "([A-Za-z0-9._~!\$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+" ||
	refuse "the user or the password of the host rabbitmq cannot be read; write them out, and other characters as in %40"

# quoted prints a part of the URL as Erlang reads it in quotes: %40 is \x40.
quoted() { printf '%s' "$1" | sed 's/%\(..\)/\\x\1/g'; }

# Erlang's terms have quotes, which rabbitmq.conf has not: a password may have a # in it.
printf '[{rabbit, [{default_user, <<"%s">>}, {default_pass, <<"%s">>}]}].\n' \
	"$(quoted "${login%%:*}")" "$(quoted "${login#*:}")" >"$work/advanced.config"
export RABBITMQ_ADVANCED_CONFIG_FILE="$work/advanced.config"
exec rabbitmq-server
