// Package forecast counts the timers that fall due in the time ahead, and estimates their
// lateness.
//
// A [Forecast] is a sequence of [Step]s. [Forecast.Divide] sums them from [Slot]s. A [Backlog]
// carries callbacks beyond the rate of the business type from one slot to the next. [OfDispatch]
// predicts when a dispatch sends.
//
// A reader starts with [Forecast.Divide].
package forecast
