// Package pace proves the rates of business types on the production form: real
// processes without Go's race detector, which would set the pace itself, and
// two workers that must keep one limit together.
package pace
