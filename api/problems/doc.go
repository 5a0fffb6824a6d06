// Package problems turns an error into a problem document (RFC 9457).
//
// One table has the status and the title of each code. [DocumentOf] looks an error up; an error that is
// not ours becomes an internal one. The codes that only the HTTP API knows are declared here, the
// others in package core/wire.
package problems
