// Package search reads the text of the search box, and turns it into a query for the API's list.
//
// Start with [Parse].
package search
