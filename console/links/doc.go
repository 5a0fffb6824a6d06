// Package links has the addresses of the pages, and keeps what leads elsewhere out.
package links
