// Package aws stands in for Amazon's client, used by Temporal for archives.
package aws

import "context"

const absent = "this server is built without Amazon's clients"

// The types used by Temporal.
type (
	ClientLogMode uint64
	Config        struct{ Credentials CredentialsProvider }
	Credentials   struct{ AccessKeyID, SecretAccessKey, SessionToken string }

	CredentialsProvider interface {
		Retrieve(context.Context) (Credentials, error)
	}
	Retryer interface {
		IsErrorRetryable(error) bool
	}
)

func String(string) *string { panic(absent) }
func Int32(int32) *int32    { panic(absent) }
