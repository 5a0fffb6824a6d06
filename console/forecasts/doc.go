// Package forecasts has what falls due in the next days, hour by hour.
//
// Start with [Pages.Routes].
package forecasts
