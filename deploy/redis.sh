#!/bin/sh
# Runs Redis, with more options if they are given, for the user and with the password that
# stand in the URL in the file REDIS_URL_FILE. It keeps nothing on disk: what it counts is
# a second old at the most.
set -eu
umask 077

refuse() {
	echo "$REDIS_URL_FILE: $1" >&2
	exit 1
}

url=
read -r url <"$REDIS_URL_FILE" || [ -n "$url" ] || refuse "there is no URL in it"
case $url in
redis://*@*) ;;
*) refuse "this Redis needs redis://[user]:password@redis:6379/0" ;;
esac
url=${url#redis://}
authority=${url%%[/?#]*}
login=${authority%@*}
user=${login%%:*}
password=${login#*:}
if [ "$login" = "$authority" ] || [ "$login" = "$user" ] || [ -z "$password" ]; then
	refuse "the URL has no password; this Redis needs redis://[user]:password@redis:6379/0"
fi
# What a client of the URL takes for a user and a password, and nothing else.
printf '%s\n' "$login" | LC_ALL=C grep -Eqx "([A-Za-z0-9._~!\$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+" ||
	refuse "the user or the password cannot be read; write other characters as in %40"

# quoted prints a part of the URL as Redis reads it in quotes: %40 is \x40.
quoted() { printf '%s' "$1" | sed 's/%\(..\)/\\x\1/g'; }

config=$(mktemp)
{
	case $user in
	'' | default) echo "requirepass \"$(quoted "$password")\"" ;;
	*)
		# Nobody else is let in.
		echo "user default off"
		echo "user \"$(quoted "$user")\" on \">$(quoted "$password")\" ~* &* +@all"
		;;
	esac
	printf 'save ""\nappendonly no\ndir /tmp\nmaxmemory 128mb\nmaxmemory-policy volatile-ttl\n'
} >"$config"
exec redis-server "$config" "$@"
