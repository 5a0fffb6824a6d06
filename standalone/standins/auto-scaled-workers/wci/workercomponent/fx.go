// Package workercomponent stands in for the worker that scales others.
package workercomponent

import "go.uber.org/fx"

// Module provides nothing.
var Module = fx.Options()
