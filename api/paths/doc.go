// Package paths has the paths that several rooms name, and reads the parameters of a path.
package paths
