package enginetest

import (
	"context"
	"fmt"
	"maps"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Server is the configuration of a server. The zero value is what Wakecall needs.
type Server struct {
	// Retention is how long finished runs are kept; 0 is 30 days.
	Retention time.Duration
	// Partitions is the number of partitions of each task queue; 0 is 1.
	Partitions int
	// Unfair dispatches tasks in their order, without regard to their keys.
	Unfair bool
	// ReuseInterval is the shortest delay of a run that continues another.
	ReuseInterval time.Duration
	// StrangeTokens makes the server reject tokens of tasks that it did not issue.
	StrangeTokens bool
	// Attributes are the registered search attributes. If nil, every attribute is accepted.
	Attributes map[string]enumspb.IndexedValueType
}

// registered returns an error if a search attribute is not registered. The caller holds the lock.
func (s *store) registered(attributes map[string]any) error {
	for name := range attributes {
		if _, known := s.Attributes[name]; s.Attributes != nil && !known {
			return serviceerror.NewInvalidArgument(fmt.Sprintf("search attribute %s is not defined", name))
		}
	}
	return nil
}

func (s service) DescribeNamespace(
	_ context.Context, r *workflowservice.DescribeNamespaceRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeNamespaceResponse, error) {
	return called(s.t, Call{Name: "DescribeNamespace", Of: r.GetNamespace()}, func() (*workflowservice.DescribeNamespaceResponse, error) {
		retention := s.t.Retention
		if retention == 0 {
			retention = 30 * 24 * time.Hour
		}
		return &workflowservice.DescribeNamespaceResponse{
			NamespaceInfo: &namespacepb.NamespaceInfo{Name: r.GetNamespace(), Id: "a9c1b7e2-5d0f-4d0e-8b63-1c2d3e4f5a6b"},
			Config:        &namespacepb.NamespaceConfig{WorkflowExecutionRetentionTtl: durationpb.New(retention)},
		}, nil
	})
}

func (s service) ListTaskQueuePartitions(
	_ context.Context, r *workflowservice.ListTaskQueuePartitionsRequest, _ ...grpc.CallOption,
) (*workflowservice.ListTaskQueuePartitionsResponse, error) {
	call := Call{Name: "ListTaskQueuePartitions", Of: r.GetTaskQueue().GetName()}
	return called(s.t, call, func() (*workflowservice.ListTaskQueuePartitionsResponse, error) {
		partitions := make([]*taskqueuepb.TaskQueuePartitionMetadata, max(s.t.Partitions, 1))
		return &workflowservice.ListTaskQueuePartitionsResponse{ActivityTaskQueuePartitions: partitions}, nil
	})
}

// OperatorService implements [client.Client].
func (t *Temporal) OperatorService() operatorservice.OperatorServiceClient { return operator{t: t} }

// operator has the calls of an operator.
type operator struct {
	operatorservice.OperatorServiceClient
	t *Temporal
}

func (o operator) ListSearchAttributes(
	_ context.Context, r *operatorservice.ListSearchAttributesRequest, _ ...grpc.CallOption,
) (*operatorservice.ListSearchAttributesResponse, error) {
	return called(o.t, Call{Name: "ListSearchAttributes", Of: r.GetNamespace()},
		func() (*operatorservice.ListSearchAttributesResponse, error) {
			return &operatorservice.ListSearchAttributesResponse{CustomAttributes: maps.Clone(o.t.Attributes)}, nil
		})
}

// AddSearchAttributes ignores attributes that are already registered.
func (o operator) AddSearchAttributes(
	_ context.Context, r *operatorservice.AddSearchAttributesRequest, _ ...grpc.CallOption,
) (*operatorservice.AddSearchAttributesResponse, error) {
	return called(o.t, Call{Name: "AddSearchAttributes", Of: r.GetNamespace()}, func() (*operatorservice.AddSearchAttributesResponse, error) {
		if o.t.Attributes == nil {
			o.t.Attributes = map[string]enumspb.IndexedValueType{}
		}
		maps.Copy(o.t.Attributes, r.GetSearchAttributes())
		return &operatorservice.AddSearchAttributesResponse{}, nil
	})
}
