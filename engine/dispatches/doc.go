// Package dispatches calls the receiver of a business type for each of many items, at one rate.
// A reader starts with [Dispatches]: an order is opened, its items are uploaded, and its shards
// are watched.
package dispatches
