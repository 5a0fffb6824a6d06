// Package quota decides whether a business type may book another timer now. [Local] is exact for
// one process. Package shared is exact for all that share one Redis.
package quota
