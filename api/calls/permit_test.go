package calls

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
)

// What is not declared is refused, whoever calls.
func TestAScopeThatIsNotDeclaredAdmitsNoCaller(t *testing.T) {
	t.Parallel()
	everybody := auth.Principal{By: auth.ByKey, Grants: []auth.Grant{{Role: auth.Admin, Payloads: true, Types: []string{auth.AllBusinessTypes}}}}
	require.Error(t, Scope{}.admit(everybody, nil))
	require.NoError(t, Viewing(AllTypes, NoPayloads).admit(everybody, nil), "the control")
}
