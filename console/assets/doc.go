// Package assets has what pages load: the style sheet, our script, and the scripts of others.
//
// Each file has an address with a hash of its content, so a browser may keep it for ever. The files
// of others are those of vendored.txt. `make console-assets` writes them, with their licences.
//
// Start with [Path] and [Serve].
package assets
