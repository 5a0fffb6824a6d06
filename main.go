// Command wakecall is a node of Wakecall, and the command line of its users.
package main

import (
	"os"

	"github.com/wakecall/wakecall/cmd/node"
)

// version is set by the linker.
var version string

func main() { os.Exit(node.Execute(version)) }
