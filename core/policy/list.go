package policy

import "github.com/wakecall/wakecall/core/wire"

// The lists of policies and emergencies.
var (
	ListSecrets     = wire.List{Name: "signing_secrets", Most: MaxSecrets, Of: "secrets"}
	ListEmergencies = wire.List{Name: "business_types", Most: MaxEmergencyTypes, Of: "business types"}
)
