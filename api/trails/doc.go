// Package trails lists the audit records that the gateway has in memory.
//
// [Register] adds the call.
package trails
