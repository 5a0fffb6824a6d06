// Package certs reads the certificates of a listener from files, and reads them again when they
// change. Their renewal needs no restart.
package certs
