#!/bin/sh
# Pins every image of docker-compose.yml and of the Dockerfile to the digest that
# its tag has now, in the file of settings that is named (.env unless it is): a tag
# can be moved, a digest cannot. Look at what changed before you keep it. Needs
# Docker with buildx, and a registry that answers.
set -eu

file=${1:-.env}
dir=$(dirname "$0")

# NAME_DIGEST is written in the files where the image's tag stands.
sed -n 's/^.*[ "]\([a-z][a-z0-9./-]*:[a-z0-9.-]*\)\${\([A-Z_]*_DIGEST\):*-*}.*$/\2 \1/p' "$dir/../docker-compose.yml" "$dir/../Dockerfile" |
	sort -u | while read -r variable image; do
	digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
	case $digest in
	sha256:????????????????????????????????????????????????????????????????) ;;
	*) echo "$image has no digest: $digest" >&2 && exit 1 ;;
	esac
	echo "$variable=@$digest"
done >"$file.digests"

{
	[ ! -e "$file" ] || sed '/^[A-Z_]*_DIGEST=/d' "$file"
	cat "$file.digests"
} >"$file.new"
rm "$file.digests"
mv "$file.new" "$file"
grep '_DIGEST=' "$file"
