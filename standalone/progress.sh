#!/usr/bin/env bash
# Runs the command that is given, a verbose build of Go, and says what it does and how far
# it is: a first one, where WAKECALL_STANDALONE_BIN is not there yet, compiles a whole
# Temporal. WHAT is what is built, SECONDS_OF_CPU the processor time of a first build.
set -euo pipefail

cd "$(dirname "$0")"
if [ ! -e "$WAKECALL_STANDALONE_BIN" ]; then
	processors=$(getconf _NPROCESSORS_ONLN)
	minutes=$(((SECONDS_OF_CPU / processors + 59) / 60))
	echo "Building $WHAT."
	echo "A first build takes about $minutes minutes on $processors processors, and downloads before; later ones take seconds."
fi
# To list what is compiled all of it must be there.
total=$(go list -deps . | wc -l)

"$@" 2>&1 | awk -v total="$total" '
	# A line of a verbose build is the path of a package; all else is what somebody must read.
	/^[a-zA-Z0-9][^ :]*$/ {
		if (++compiled % 100 == 0) {
			printf "  compiled %d of about %d packages\n", compiled, total
			fflush()
		}
		next
	}
	{ print; fflush() }'
