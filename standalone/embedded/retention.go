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

// retentionTime is how long a started server may take to be asked.
const retentionTime = 30 * time.Second

// keepRetention gives a namespace that was made with another retention the one
// that is asked for. It counts for workflows that end from then on.
func keepRetention(o Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), retentionTime)
	defer cancel()
	namespaces, err := client.NewNamespaceClient(client.Options{HostPort: o.Addr, Logger: silence{}})
	if err != nil {
		return err
	}
	defer namespaces.Close()
	found, err := namespaces.Describe(ctx, o.Namespace)
	if err != nil || found.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() == o.Retention {
		return err
	}
	err = namespaces.Update(ctx, &workflowservice.UpdateNamespaceRequest{
		Namespace: o.Namespace, Config: &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(o.Retention)},
	})
	if err != nil {
		return fmt.Errorf("keeping finished timers for %s: %w", o.Retention, err)
	}
	return nil
}

// silence is a logger for the moments in which Temporal does not answer yet.
type silence struct{}

func (silence) Debug(string, ...any) {}
func (silence) Info(string, ...any)  {}
func (silence) Warn(string, ...any)  {}
func (silence) Error(string, ...any) {}
