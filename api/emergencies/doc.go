// Package emergencies answers the calls that pause the callbacks of business types, or all
// callbacks, and resume them.
//
// [Register] adds the calls.
package emergencies
