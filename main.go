// Command wakecall is a node of Wakecall, and the command line of its users.
package main

import (
	"os"

	"github.com/wakecall/wakecall/cmd"
)

// version is set by the linker.
var version string

func main() { os.Exit(cmd.Execute(version)) }
