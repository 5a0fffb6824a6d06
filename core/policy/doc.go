// Package policy says how a business type is called back, and how much of Wakecall it may use.
//
// A [Policy] has a callback, a retry ladder, [Limits], signing secrets and [TLS]. Its receiver
// may ask for [BackPressure]. Dispatches claim a part of its rate, each with a [Claim]. An
// [Emergency] pauses the callbacks of one business type, or of all of them, whatever their
// policies say. [Holds] joins both and says what holds back an attempt.
//
// [Differences] compares two versions of a policy, without its secrets.
//
// A reader starts with [Policy.Check].
package policy
