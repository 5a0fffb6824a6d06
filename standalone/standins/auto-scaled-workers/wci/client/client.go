// Package client stands in for Temporal's client of auto-scaled workers. There are none.
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

// Client answers as Temporal's own does without scaled workers.
type Client struct{}

// DescribeWorkerControllerInstance finds nothing, as for each worker version without scaling.
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

// DeleteWorkerControllerInstance has nothing to do, as for each worker version without scaling.
func (Client) DeleteWorkerControllerInstance(
	context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion, string,
) error {
	return nil
}

// refusal is an error and no panic, because any client of Temporal can cause it. The server
// retries every error except an invalid argument.
func refusal() error {
	return serviceerror.NewInvalidArgument("this server is built without auto-scaled workers")
}
