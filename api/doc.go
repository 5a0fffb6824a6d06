// Package api is the HTTP API. Only this package and its rooms see requests come in and know Echo.
//
// This package wires: [New] guards every request, adds the calls of each noun, and makes the
// server. It embeds openapi.yaml, the description of the API.
//
//   - Packages timers, policies, dispatches, jobs, deliveries, streams, emergencies, forecasts,
//     objectives, outcomes, trails, processes and access answer the calls of the contract. Each has
//     a function Register.
//   - Package operations answers the calls outside of the contract.
//   - Package front is what every request passes, and package calls what a call is: its route, its
//     scope, its caller.
//   - Packages requests and decode read; packages answers, problems and unbounded write; package
//     audits records.
//
// A handler works in the order of its request: it decodes, validates, asks whether the caller may,
// calls the engine once, and answers. Every error leaves as application/problem+json (RFC 9457)
// with a type from the closed list of package problems. Nothing of Temporal's or Go's own words
// reaches a caller.
//
// The package stands at the top of the tree because it is a room of the architecture.
// It promises nothing to importers (docs/decisions/0036-one-promise-to-importers.md).
package api
