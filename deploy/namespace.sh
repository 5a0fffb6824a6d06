#!/bin/sh
# Makes the namespace TEMPORAL_NAMESPACE of Temporal at TEMPORAL_ADDRESS, which
# keeps finished timers for RETENTION. May be repeated. Fails while Temporal
# does not answer, and for some seconds after the namespace was made, until
# Temporal serves it: whoever runs it, runs it again.
set -eu

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
	temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
temporal workflow count --namespace "$TEMPORAL_NAMESPACE"
