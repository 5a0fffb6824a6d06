package build

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "4b8c0f1"}}
	for name, c := range map[string]struct {
		linked string
		build  *debug.BuildInfo
		want   string
	}{
		"linked":       {"v1.2.3", &debug.BuildInfo{Main: debug.Module{Version: "v1.0.0"}, Settings: commit}, "v1.2.3"},
		"module":       {"", &debug.BuildInfo{Main: debug.Module{Version: "v1.0.0"}, Settings: commit}, "v1.0.0"},
		"commit":       {"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: commit}, "4b8c0f1"},
		"neither":      {"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
		"no module":    {"", &debug.BuildInfo{}, "devel"},
		"not recorded": {"", nil, "devel"},
	} {
		require.Equal(t, c.want, versionOf(c.linked, c.build), name)
	}
}
