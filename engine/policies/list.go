package policies

import (
	"context"

	"github.com/wakecall/wakecall/core/policy"
)

// List lists every policy, secrets sealed, from Temporal's visibility.
func (r *Reader) List(ctx context.Context) ([]policy.Policy, error) {
	inForce, _, err := r.entities.Listed(ctx)
	return inForce, err
}
