// Package disk is a disk of its own whose power can be cut: an ext4 file system in a file. What
// its kernel has not written by then is gone, and its journal recovers. Only root may mount one.
package disk
