// Package helm holds the Helm chart of Wakecall, in wakecall/, and its tests: rendered for all
// values, checked against the schemas of Kubernetes, and run as processes. It is a module of
// its own, for Helm brings Kubernetes along.
package helm
