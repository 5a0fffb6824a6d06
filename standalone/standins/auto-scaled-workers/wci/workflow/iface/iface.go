// Package iface has the types of auto-scaled workers that Temporal's server names.
package iface

import (
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
)

// ValidationResultFailed is what a validation has come to.
const ValidationResultFailed ValidationResult = "failed"

// The types, as the server fills and reads them.
type (
	ComputeProviderType  string
	ScalingAlgorithmType string
	ValidationResult     string

	ComputeProviderSpec struct {
		ProviderType  ComputeProviderType
		Config        *common.Payload
		NexusEndpoint string
	}
	ScalingAlgorithmSpec struct {
		ScalingAlgorithm ScalingAlgorithmType
		Config           *common.Payload
	}
	ScalingGroupSpec struct {
		TaskTypes []enums.TaskQueueType
		Compute   ComputeProviderSpec
		Scaling   *ScalingAlgorithmSpec
	}
	ScalingGroupSpecUpdate struct {
		Spec       ScalingGroupSpec
		UpdateMask []string
	}
	WorkerControllerInstanceSpec struct {
		ScalingGroupSpecs map[string]ScalingGroupSpec
	}
	QueryDescribeWorkerControllerInstanceResponse struct {
		Spec             *WorkerControllerInstanceSpec
		ValidationStatus *ValidationStatus
	}
	UpdateWorkerControllerInstanceResponse struct {
		Spec *WorkerControllerInstanceSpec
	}
	ValidationStatus struct {
		LastValidationTime time.Time
		Status             ValidationResult
		ErrMessage         string
	}
)
