package policy

import (
	"strings"

	"github.com/wakecall/wakecall/core/delivery"
)

// canaryPrefix begins the business types of canaries. With its colons, no caller can name one.
const canaryPrefix = "wakecall:canary:"

// CanaryType returns the business type of a gateway's canary.
func CanaryType(gateway string) string { return canaryPrefix + gateway }

// Canary returns the policy of a canary's business type. It is stored nowhere. ok is false for
// every other type.
func Canary(businessType string) (p Policy, ok bool) {
	if !strings.HasPrefix(businessType, canaryPrefix) {
		return Policy{}, false
	}
	return Policy{BusinessType: businessType, Version: 1, Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, true
}
