// Package forecast counts what falls due in the time ahead, and how late that makes it.
//
// A [Forecast] has one [Step] after the other. [Forecast.Divide] makes them of [Slot]s, and a
// [Backlog] carries from one to the next what the rate of the business type does not let
// through. [OfDispatch] tells when a dispatch will send.
//
// A reader starts with [Forecast.Divide].
package forecast
