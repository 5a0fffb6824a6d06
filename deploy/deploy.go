// Package deploy carries the files that the embedded engine and the compose
// file share, so that both run on the same tuning.
package deploy

import _ "embed"

// DynamicConfig is Temporal's dynamic configuration.
//
//go:embed dynamicconfig.yaml
var DynamicConfig []byte

// VisibilityIndexes are statements that leave Temporal's visibility store on
// SQLite the indexes that Wakecall needs. They may be repeated.
//
//go:embed visibility.sqlite.sql
var VisibilityIndexes string
