// Package gateway runs the gateway without a deployment: the API over HTTP, on the engine, on
// Temporal's stand-in of package enginetest. Its tests hold what a client sees of rules that the
// API and the engine keep together. No receiver is called here: what rings is for e2e.
//
// A reader starts with Gateway, in gateway_test.go.
package gateway
