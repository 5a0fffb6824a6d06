#!/bin/sh
# Writes the settings that docker-compose.yml asks for to .env, or to the file
# that is named, with fresh random values. What is there is kept: the secret key
# opens what is stored.
set -eu
umask 077

file=${1:-.env}
if [ -e "$file" ]; then
	echo "$file is there already and is kept." >&2
	exit 0
fi

hex() { head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

key=$(hex 32)
digest=$(printf %s "$key" | sha256sum | cut -d ' ' -f 1)
cat >"$file.new" <<END
POSTGRES_PASSWORD=$(hex 24)
WAKECALL_SECRET_KEY=$(head -c 32 /dev/urandom | base64)
WAKECALL_API_KEYS=local:$digest
END
mv "$file.new" "$file"

echo "$file is written. The API key is shown this once; send it as a bearer token:"
echo "$key"
