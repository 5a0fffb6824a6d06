// Package client stands in for Temporal's client of auto-scaled workers, which there are none of.
package client

import (
	"context"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"
)

// Module provides the client.
var Module = fx.Provide(func() Client { return Client{} })

// Client answers as Temporal's own does where nothing is scaled.
type Client struct{}

// DescribeWorkerControllerInstance finds nothing, as for each version of a worker that nobody scales.
func (Client) DescribeWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion,
) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound("no worker is scaled by this server")
}

// UpdateWorkerControllerInstance refuses.
func (Client) UpdateWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion, []byte, string,
	map[string]iface.ScalingGroupSpecUpdate, []string,
) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, refusal()
}

// ValidateWorkerControllerInstanceSpec refuses.
func (Client) ValidateWorkerControllerInstanceSpec(
	context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion, string,
	map[string]iface.ScalingGroupSpecUpdate, []string,
) error {
	return refusal()
}

// DeleteWorkerControllerInstance has nothing to do, as for each version of a worker that nobody scales.
func (Client) DeleteWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion, string,
) error {
	return nil
}

// refusal is an answer, and no panic: whoever reaches Temporal can ask for it. An argument
// that is wrong is the one answer that the server does not try again.
func refusal() error {
	return serviceerror.NewInvalidArgument("this server is built without auto-scaled workers")
}
