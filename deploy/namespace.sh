#!/bin/sh
# Makes the namespace TEMPORAL_NAMESPACE of Temporal at TEMPORAL_ADDRESS, which
# keeps finished timers for RETENTION. May be repeated. Fails while Temporal
# does not answer, and for some seconds after the namespace was made, until
# Temporal serves it: whoever runs it, runs it again. It makes no namespace that
# it was only refused to read.
set -eu

if ! answer=$(temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" 2>&1); then
	case $answer in
	*"is not found"*) temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION" ;;
	*)
		echo "$answer" >&2
		exit 1
		;;
	esac
fi
temporal workflow count --namespace "$TEMPORAL_NAMESPACE"
