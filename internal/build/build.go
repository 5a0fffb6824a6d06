// Package build names the build of a program.
package build

import (
	"cmp"
	"runtime/debug"
)

// Version returns the name of the build. It is the linker's (-ldflags "-X main.version=v1.2.3"),
// or else Go's version of the module or the commit.
func Version(linked string) string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(linked, info)
}

// unversioned names a build from a tree unknown to git; Go calls it "(devel)".
const unversioned = "devel"

func versionOf(linked string, build *debug.BuildInfo) string {
	if linked != "" || build == nil {
		return cmp.Or(linked, unversioned)
	}
	if module := build.Main.Version; module != "" && module != "(devel)" {
		return module
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return unversioned
}
