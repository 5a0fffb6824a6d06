// Package sendtest holds what every transport of package send has to keep to, as
// rules that are run against a transport and a receiver at the far end of it.
package sendtest
