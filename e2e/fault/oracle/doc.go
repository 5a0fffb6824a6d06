// Package oracle judges a run by two logs: what the client was answered, and
// what the receiver got. It is pure, and knows nothing of Wakecall but its
// promises.
//
// Each rule is a function from a [Run] to the [Violation]s it finds. That a
// rule finds anything at all is proved by logs that were tampered with.
package oracle
