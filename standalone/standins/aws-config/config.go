// Package config stands in for the configuration of Amazon's client.
package config

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const absent = "this server is built without Amazon's clients"

// The types used by Temporal.
type (
	LoadOptions     struct{}
	LoadOptionsFunc func(*LoadOptions) error
	EnvConfig       struct{ Credentials aws.Credentials }
)

func LoadDefaultConfig(context.Context, ...func(*LoadOptions) error) (aws.Config, error) {
	panic(absent)
}
func NewEnvConfig() (EnvConfig, error)                    { panic(absent) }
func WithRegion(string) LoadOptionsFunc                   { panic(absent) }
func WithClientLogMode(aws.ClientLogMode) LoadOptionsFunc { panic(absent) }
