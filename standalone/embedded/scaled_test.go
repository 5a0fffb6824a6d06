package embedded

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/compute/v1"
	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Versions of workers are made, shown and removed as usual. A stand-in refuses their scaling
// with a clear message.
func TestVersionsOfWorkersGoWithoutScaling(t *testing.T) {
	o := smallest(t)
	server := running(t, o)
	defer stop(t, server)
	api := dial(t, o).WorkflowService()
	version := &deployment.WorkerDeploymentVersion{DeploymentName: "shop", BuildId: "1"}
	_, err := api.CreateWorkerDeployment(t.Context(), &workflowservice.CreateWorkerDeploymentRequest{
		Namespace: client.DefaultNamespace, DeploymentName: version.DeploymentName,
	})
	require.NoError(t, err)
	scaled := &workflowservice.CreateWorkerDeploymentVersionRequest{
		Namespace: client.DefaultNamespace, DeploymentVersion: version,
		ComputeConfig: &compute.ComputeConfig{ScalingGroups: map[string]*compute.ComputeConfigScalingGroup{
			"all": {Provider: &compute.ComputeProvider{Type: "k8s"}},
		}},
	}
	_, err = api.CreateWorkerDeploymentVersion(t.Context(), scaled)
	require.ErrorContains(t, err, "built without auto-scaled workers")
	require.ErrorAs(t, err, new(*serviceerror.InvalidArgument))

	_, err = api.CreateWorkerDeploymentVersion(t.Context(), &workflowservice.CreateWorkerDeploymentVersionRequest{
		Namespace: client.DefaultNamespace, DeploymentVersion: version,
	})
	require.NoError(t, err)
	shown, err := api.DescribeWorkerDeploymentVersion(t.Context(), &workflowservice.DescribeWorkerDeploymentVersionRequest{
		Namespace: client.DefaultNamespace, DeploymentVersion: version,
	})
	require.NoError(t, err)
	require.Nil(t, shown.GetWorkerDeploymentVersionInfo().GetComputeConfig())
	_, err = api.UpdateWorkerDeploymentVersionComputeConfig(t.Context(), &workflowservice.UpdateWorkerDeploymentVersionComputeConfigRequest{
		Namespace: client.DefaultNamespace, DeploymentVersion: version,
		ComputeConfigScalingGroups: map[string]*compute.ComputeConfigScalingGroupUpdate{
			"all": {ScalingGroup: scaled.ComputeConfig.ScalingGroups["all"]},
		},
	})
	require.ErrorContains(t, err, "built without auto-scaled workers")
	_, err = api.DeleteWorkerDeploymentVersion(t.Context(), &workflowservice.DeleteWorkerDeploymentVersionRequest{
		Namespace: client.DefaultNamespace, DeploymentVersion: version,
	})
	require.NoError(t, err)
}
