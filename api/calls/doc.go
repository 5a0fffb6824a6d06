// Package calls is what a call of the contract is: its route, who may make it, and what it
// understands of a request.
//
// A reader starts at [Scope]. Every route declares one with [Routes]. The middlewares here let a
// caller in, refuse what the scope does not permit, and refuse the parts of a request that the
// call would ignore. A handler whose business type stands in the body or the query asks [Permit].
package calls
