// Package front tests who may call the gateway and how, on a real Temporal: access, sign-in,
// the OpenAPI document, clients and examples. A reader starts with access_test.go.
package front
