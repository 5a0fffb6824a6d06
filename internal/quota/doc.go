// Package quota decides whether a business type may book one more timer now. [Local] is
// exact for one process; package shared, for all that use one Redis.
package quota
