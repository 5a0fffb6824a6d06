#!/bin/sh
# Makes what docker-compose.yml asks for: fresh secrets, a file each, in the
# directory secrets beside the file of settings that is named (.env unless it is),
# and that file. What is there is kept: the secret key opens what is stored. May be
# repeated, and makes then what a newer version asks for as well.
set -eu
umask 077

file=${1:-.env}
dir=$(dirname "$file")
secrets=$dir/secrets
mkdir -p "$secrets"

hex() { head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

# keep NAME VALUE makes a secret, unless it is there. The users of the containers
# differ, and each of them must read its file: the directory keeps others out.
keep() {
	[ ! -s "$secrets/$1" ] || return 0
	printf '%s\n' "$2" >"$secrets/$1.new"
	chmod 444 "$secrets/$1.new"
	mv "$secrets/$1.new" "$secrets/$1"
}

keep postgres_password "$(hex 24)"
keep secret_key "$(head -c 32 /dev/urandom | base64)"
keep redis_url "redis://:$(hex 24)@redis:6379/0"
keep brokers "{\"brokers\": [{\"name\": \"main\", \"url\": \"amqp://wakecall:$(hex 24)@rabbitmq:5672/\"}]}"
keep oidc_client_secret "$(hex 24)"
keep grafana_password "$(hex 24)"

key=
if [ ! -s "$secrets/api_keys" ]; then
	key=$(hex 32)
	keep api_keys "local:$(printf %s "$key" | sha256sum | cut -d ' ' -f 1)"
fi

if ! grep -qs '^SECRETS_DIR=.' "$file"; then
	{
		echo "# Settings of docker-compose.yml that are no secrets; see docs/production.md."
		echo "SECRETS_DIR=$secrets"
		[ ! -e "$file" ] || cat "$file"
	} >"$file.new"
	mv "$file.new" "$file"
	echo "$file is written, and the secrets in $secrets."
fi
if [ -n "$key" ]; then
	echo "The API key is shown this once; send it as a bearer token:"
	echo "$key"
fi
