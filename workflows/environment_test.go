package workflows_test

import (
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/workflows"
)

// newEnvironment runs the workflows in workflow time. Its limit is on the wall clock,
// and leaves room for a busy machine: the SDK's own is three seconds.
func newEnvironment() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	workflows.Register(env)
	return env
}

// quiet drops a log.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
