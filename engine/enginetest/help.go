package enginetest

import (
	"context"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
)

// Payloads encodes as Temporal's client does.
var Payloads = converter.GetDefaultDataConverter()

// Failure is the failure of an activity with details.
func Failure(details *commonpb.Payloads) *failurepb.Failure {
	return &failurepb.Failure{FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
		ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Details: details},
	}}
}

// Encoded returns the payloads of some values.
func Encoded(t testing.TB, values ...any) *commonpb.Payloads {
	t.Helper()
	encoded, err := Payloads.ToPayloads(values...)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// Caller is a caller whose role has the name of the business type.
type Caller struct{}

// Actor implements [audit.Caller].
func (Caller) Actor(businessType string) (wire.Actor, bool) {
	return wire.Actor{Name: "shop", Role: businessType, By: "key", From: "192.0.2.1", RequestID: "aJmDBYAXpugjgGGRCeBfUDqMUTXzsbbo"}, true
}

// WithCaller returns the context of a call by [Caller].
func WithCaller(t *testing.T) context.Context {
	t.Helper()
	return audit.With(t.Context(), Caller{})
}
