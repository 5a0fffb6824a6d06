package workflows_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain ignores what the SDK's test environment leaves behind: two goroutines of an
// activity that waits for its next try when the workflow ends. Their channel is never closed.
func TestMain(m *testing.M) {
	const environment = "go.temporal.io/sdk/internal.(*testWorkflowEnvironmentImpl)."
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction(environment+"executeActivityWithRetryForTest"),
		goleak.IgnoreAnyFunction(environment+"ExecuteActivity.func2"),
	)
}
