// Package decode reads JSON bodies strictly, and names everything that is wrong with one.
//
// [Parse] refuses what is not one JSON object. [Object.Fill] sets the fields of a struct, and
// returns an error for each member that does not fit. [Object.Zeros] finds the zeros that are
// refused.
//
// The time and the memory that a body costs are linear in its size. Lists and objects are counted
// before they are built.
package decode
