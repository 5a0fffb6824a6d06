// Package deliveries answers receivers that acknowledge a delivery after their answer to the
// callback.
//
// [Register] adds the calls. The token of the callback stands in place of an API key.
package deliveries
