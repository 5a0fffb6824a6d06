// Package oracle judges a run by two logs: the client's answers, and the receiver's
// requests. It is pure, and knows only Wakecall's promises.
//
// Each rule is a function from a [Run] to the [Violation]s it finds. Logs that were tampered
// with prove that each rule finds violations.
package oracle
