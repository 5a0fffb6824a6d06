// Package policy has the rules for calling back a business type, and the limits of its use.
//
// A [Policy] has a callback, a retry ladder, [Limits], signing secrets and [TLS]. Its receiver
// may ask for [BackPressure]. Each dispatch takes a part of its rate by a [Claim]. An
// [Emergency] pauses the callbacks of one business type, or of all, regardless of policies.
// [Holds] combines both to find what holds back an attempt.
//
// [Differences] compares two versions of a policy, without its secrets.
//
// A reader starts with [Policy.Check].
package policy
