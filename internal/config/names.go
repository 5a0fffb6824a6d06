package config

import (
	"regexp"
	"slices"
	"strings"
)

const prefix = "WAKECALL_"

// others are names in the environment that no role reads: those of the client, the Makefile and
// the tests.
var others = []string{
	"WAKECALL_URL", "WAKECALL_API_KEY", "WAKECALL_API_KEY_FILE",
	"WAKECALL_BIN", "WAKECALL_STANDALONE_BIN", "WAKECALL_BENCH_PEERS", "WAKECALL_COMPILED", "WAKECALL_VERSION", "WAKECALL_RECORD",
	"WAKECALL_FAULT", "WAKECALL_FAULT_SEED", "WAKECALL_FAULT_TABLE", "WAKECALL_EARLIER_BIN",
	"WAKECALL_PUNCTUAL", "WAKECALL_CURVES", "WAKECALL_RINGS", "WAKECALL_SEED",
}

// kubernetes matches the variables that Kubernetes sets in every container for a service named
// wakecall, or wakecall-something.
var kubernetes = regexp.MustCompile(`^WAKECALL_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// addUnknown adds a fault for each variable that looks like a setting and is none. Otherwise a misspelt
// one would be ignored silently.
func (f *Faults) addUnknown(environment map[string]string, settings []Settings) {
	known := slices.Clone(others)
	for _, s := range settings {
		for _, v := range variables(s) {
			if known = append(known, v.name); v.secret {
				known = append(known, v.name+fileSuffix)
			}
		}
	}
	for name := range environment {
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) || kubernetes.MatchString(name) {
			continue
		}
		if likely := nearest(name, known); likely != "" {
			f.Add(name, "there is no such setting; did you mean %s?", likely)
		} else {
			f.Add(name, "there is no such setting")
		}
	}
}

// nearest returns the closest known name, or "" if none is close.
func nearest(name string, known []string) (likely string) {
	least := len(name)/4 + 1
	for _, candidate := range known {
		if d := distance(strings.TrimPrefix(name, prefix), strings.TrimPrefix(candidate, prefix)); d < least {
			likely, least = candidate, d
		}
	}
	return likely
}

// distance is the Levenshtein distance: the number of insertions, deletions and substitutions.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
