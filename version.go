package main

import (
	"cmp"
	"runtime/debug"
)

// version is set by the linker, with -ldflags "-X main.version=v1.2.3".
var version string

// buildVersion names the build: as the linker was told, else as Go knows the
// module or the commit.
func buildVersion() string {
	build, _ := debug.ReadBuildInfo()
	return versionOf(version, build)
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
