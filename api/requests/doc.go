// Package requests reads what a request says: its query, its body, its conditions, its idempotency
// key and its page token.
//
// What a call does not understand is refused, and every field error of a query is named.
// [LargeBodies] bounds the large bodies that are in memory at once.
package requests
