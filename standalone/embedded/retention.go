package embedded

import (
	"context"
	"fmt"
	"time"

	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

// retentionTime bounds the wait for the first answer of a started server. A machine with much to do besides
// starts late rather than not at all.
const retentionTime = 2 * time.Minute

// keepRetention updates the retention of a namespace that was made with another one. The new one
// applies to workflows that end later.
func keepRetention(o Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), retentionTime)
	defer cancel()
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: o.Addr, Logger: silence{}})
	if err != nil {
		return err
	}
	defer namespaces.Close()
	found, err := namespaces.Describe(ctx, o.Namespace)
	if err != nil {
		return fmt.Errorf("asking Temporal for its namespace: %w", err)
	}
	if found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == o.Retention {
		return nil
	}
	err = namespaces.Update(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: o.Namespace, Config: &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(o.Retention)},
	})
	if err != nil {
		return fmt.Errorf("keeping finished timers for %s: %w", o.Retention, err)
	}
	return nil
}

// silence is a logger for the time before Temporal answers.
type silence struct{}

func (silence) Debug(string, ...any) {}
func (silence) Info(string, ...any)  {}
func (silence) Warn(string, ...any)  {}
func (silence) Error(string, ...any) {}
