// Package dispatches calls the receiver of a business type for each of many items, at one
// rate. A reader starts with [Dispatches]: it opens an order, uploads its items, and watches
// its shards.
package dispatches
