// Package pace tests the rates of business types on the production form: real processes
// without Go's race detector, which would slow the pace, and two workers that must keep one
// limit together.
package pace
