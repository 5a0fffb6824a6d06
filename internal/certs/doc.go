// Package certs reads the certificates of a listener from files, and reads them anew when
// they change: whoever renews them need not restart what serves.
package certs
