// Package forecasts answers how many timers fall due in the time ahead.
//
// [Register] adds the call.
package forecasts
