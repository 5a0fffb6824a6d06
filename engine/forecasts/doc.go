// Package forecasts returns how many timers fall due in each step of the time ahead. They
// are counted in the background, and kept in memory. A reader starts with [Forecasts].
package forecasts
