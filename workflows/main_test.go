package workflows_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain leaves out what the SDK's test environment leaves behind: the two goroutines
// of an activity that waits for its next try when the workflow ends. Nothing closes the
// channel that they wait for.
func TestMain(m *testing.M) {
	const environment = "go.temporal.io/sdk/internal.(*testWorkflowEnvironmentImpl)."
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction(environment+"executeActivityWithRetryForTest"),
		goleak.IgnoreAnyFunction(environment+"ExecuteActivity.func2"),
	)
}
