#!/bin/sh
# Writes the scripts of others into files/: those of vendored.txt, by exact version and integrity.
# Run it as `make console-assets` after a change of vendored.txt.
set -eu
cd "$(dirname "$0")"
into=$(mktemp -d)
trap 'rm -rf "$into"' EXIT

while read -r name version integrity; do
	file=$(npm pack --silent --pack-destination "$into" "$name@$version")
	got=sha512-$(openssl dgst -sha512 -binary "$into/$file" | base64 -w0)
	[ "$got" = "$integrity" ] || { echo "$name@$version is $got, not $integrity" >&2; exit 1; }
	mkdir -p "$into/$name"
	tar -xzf "$into/$file" -C "$into/$name" --strip-components 1
done <vendored.txt

# Two deferred scripts may miss each other: htmx starts before its extension is there.
htmx=$into/htmx.org/dist
{ grep -hv '^//# sourceMappingURL' "$htmx/htmx.min.js"; echo; grep -hv '^//# sourceMappingURL' "$htmx/ext/hx-sse.min.js"; } >files/htmx.js
cp "$into/htmx.org/LICENSE" files/htmx.LICENSE
(cd files && sha256sum htmx.js htmx.LICENSE >../SHA256SUMS)
