package policy

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Difference is one value in which two policies differ. A value left out is null. Secret values
// are hidden.
type Difference struct {
	Pointer string `json:"pointer"` // RFC 6901
	From    any    `json:"from"`
	To      any    `json:"to"`
}

// Differences compares the parts of two policies that clients can set.
func Differences(from, to Policy) []Difference {
	return differ("", tree(from), tree(to), []Difference{})
}

// tree returns the JSON members of a policy, without those that Wakecall adds.
func tree(p Policy) map[string]any {
	if p.Version == 0 {
		return nil // there is no policy
	}
	p.Claims, p.Version, p.BackPressure, p.PressureLiftedAt, p.StreamedUntil, p.RetiredSecrets = nil, 0, nil, 0, 0, nil
	p.PausedBy, p.PausedAt, p.SecretsChangedAt = "", 0, 0
	text, _ := json.Marshal(p) // a policy holds no channel, function or cycle
	var members map[string]any
	_ = json.Unmarshal(text, &members)
	delete(members, "version")
	return members
}

func differ(pointer string, from, to any, found []Difference) []Difference {
	a, isMap := from.(map[string]any)
	b, areMaps := to.(map[string]any)
	if (isMap || from == nil) && (areMaps || to == nil) && (isMap || areMaps) {
		names := maps.Clone(a)
		if names == nil {
			names = map[string]any{}
		}
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			found = differ(pointer+"/"+wire.EscapePointer(name), a[name], b[name], found)
		}
		return found
	}
	if reflect.DeepEqual(from, to) {
		return found
	}
	return append(found, maskSecrets(Difference{Pointer: pointer, From: from, To: to}))
}

// secretMembers are write-only. A difference in them is shown without their value.
var secretMembers = []string{"/signing_secrets", "/callback/headers", "/fallback/headers", "/tls/client_key"}

// maskSecrets hides the values of a difference in a secret.
func maskSecrets(d Difference) Difference {
	for _, secret := range secretMembers {
		if len(d.Pointer) >= len(secret) && d.Pointer[:len(secret)] == secret {
			d.From, d.To = mask(d.From), mask(d.To)
		}
	}
	return d
}

func mask(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return strconv.Itoa(len(v)) + " × " + delivery.Hidden
	default:
		return delivery.Hidden
	}
}
