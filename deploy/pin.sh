#!/bin/sh
# Pins the images of the named files, docker-compose.yml and the Dockerfile unless
# there are any, to what their tags mean now: postgres:17.7@sha256:… A tag can be
# moved, a digest cannot. May be repeated: a tag that has moved since gets its new
# digest. Unless each registry answers for each image, nothing is changed. `make pin`
# builds crane (CRANE), which it asks; look at `git diff` before you keep what it wrote.
set -eu

crane=${CRANE:-crane}
if [ $# -eq 0 ]; then
	set -- "$(dirname "$0")/../docker-compose.yml" "$(dirname "$0")/../Dockerfile"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An image of ours is built from the checkout, and a stage has no tag.
sed -n -E 's/^ *image: ([^ @]+:[^ @]+).*$/\1/p; s/^FROM ([^ @]+:[^ @]+).* AS .*$/\1/p' "$@" |
	grep -v '^wakecall:' | sort -u >"$work/images"

while read -r image; do
	digest=$("$crane" digest "$image" </dev/null) || digest="no answer"
	if ! printf '%s\n' "$digest" | grep -Eqx 'sha256:[0-9a-f]{64}'; then
		echo "$image: its registry tells no digest ($digest); nothing was changed" >&2
		exit 1
	fi
	plain=$(printf %s "$image" | sed 's/[.]/\\./g')
	printf '%s\n' "s~^( *image: |FROM )$plain(@[^ ]*)?~\\1$image@$digest~" >>"$work/edits"
	echo "$image@$digest"
done <"$work/images"

for file; do
	sed -E -f "$work/edits" "$file" >"$work/pinned"
	cat "$work/pinned" >"$file" # it stays the same file, with the same rights
done
