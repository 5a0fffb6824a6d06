package workflows_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/workflows"
)

// registry runs a registry with the given changes, one per second, until it continues as new
// or is cancelled. It returns the types that it names in the end.
func registry(t *testing.T, known workflows.Registered, changes ...workflows.Registration) workflows.Registered {
	t.Helper()
	env := newEnvironment()
	env.SetStartTime(time.Unix(1000, 0))
	named := known
	env.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		named = args.Get(0).(map[string]any)[workflows.MemoRegistry].(workflows.Registered)
	})
	for i, change := range changes {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.SignalRegister, change) }, time.Duration(i+1)*time.Second)
	}
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(workflows.TypeRegistry, known)
	var again *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); err != nil && errors.As(err, &again) {
		var next workflows.Registered
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
		require.Equal(t, named, next)
	}
	return named
}

func TestRegistryNamesWhatWasRegistered(t *testing.T) {
	t.Parallel()
	add := func(types ...string) workflows.Registration { return workflows.Registration{Add: types} }
	require.Equal(t, workflows.Registered{"old": 5, "a": 1001, "b": 1002, "c": 1002},
		registry(t, workflows.Registered{"old": 5}, add("a"), add("b", "c")))
	require.Equal(t, workflows.Registered{"a": 1001}, registry(t, nil, add("a")), "a first run begins with none")
	require.Equal(t, workflows.Registered{"b": 1001, "c": 5},
		registry(t, workflows.Registered{"a": 5, "b": 5, "c": 5}, add("b"), workflows.Registration{Remove: []workflows.Registrant{{"a", 5}, {"b", 5}}}),
		"b was registered again since")
	require.Equal(t, workflows.Registered{"a": 1002}, registry(t, nil, add("a", "a")), "no two registrations are the same")
}

func TestRegistryContinues(t *testing.T) {
	t.Parallel()
	var changes []workflows.Registration
	for i := range 600 {
		changes = append(changes, workflows.Registration{Add: []string{strconv.Itoa(i)}})
	}
	require.Len(t, registry(t, nil, changes...), 500)
}

func TestRegistryIsBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 10_001 {
		many = append(many, strconv.Itoa(i))
	}
	full := registry(t, nil, workflows.Registration{Add: many}, workflows.Registration{Add: []string{"new", "7"}})
	require.Len(t, full, 10_000)
	require.EqualValues(t, 1002, full["7"], "one that is known is registered again")
}
