// Package httpsend carries messages over HTTP. Only this package knows resty, whose own
// retry stays off.
package httpsend
