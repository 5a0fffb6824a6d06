// Package httpsend carries messages over HTTP. It is the only package that knows
// resty, whose own retry stays off.
package httpsend
