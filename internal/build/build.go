// Package build names the build of a program.
package build

import (
	"cmp"
	"runtime/debug"
)

// Version names the build: as the linker was told (-ldflags "-X
// main.version=v1.2.3"), else as Go knows the module or the commit.
func Version(linked string) string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(linked, info)
}

// unversioned is a build from a tree that git does not know; Go calls it
// "(devel)".
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
