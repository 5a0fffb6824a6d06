// Package processes knows the processes of an installation by their signs of life. A reader starts
// with [Processes].
package processes
