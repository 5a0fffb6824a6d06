package fault

import (
	"slices"
	"testing"

	"github.com/wakecall/wakecall/e2e/process"
)

// The short set runs its scenarios one after another in one deployment of roles and in one
// of the standalone form, the two side by side. In the long set each scenario has a separate
// deployment.

func TestProduction(t *testing.T) {
	if !long {
		t.Parallel()
		each(t, scenariosOfProduction, newProduction(t, roles, process.Direct).again)
		return
	}
	inEachForm(t, func(t *testing.T, of form) {
		all := slices.Concat(scenariosOfProduction, scenariosOfTheNight)
		each(t, all, func(t *testing.T) *production { return newProduction(t, of, process.Direct) })
	})
}

func TestStandalone(t *testing.T) {
	t.Parallel()
	if long {
		each(t, scenariosOfStandalone, func(t *testing.T) *standalone { return newStandaloneIn(t, smallDisk(t)) })
		return
	}
	// A herd leaves a large log behind, and SQLite finds room in it on a full disk.
	all := slices.Insert(slices.Clone(scenariosOfStandalone), 1, scenario[*standalone]{"herd", (*standalone).herd})
	each(t, all, newStandaloneIn(t, smallDisk(t)).again)
}

// scenario breaks something in a deployment.
type scenario[Deployment any] struct {
	name string
	run  func(Deployment)
}

var scenariosOfProduction = []scenario[*production]{
	{"changes and cancels at the due time", (*production).races},
	{"each part killed under a dispatch", (*production).dispatchStruck},
	{"everything killed in mid-callback", (*production).everythingKilled},
}

// scenariosOfTheNight are in the long set only. Each is much like one of the short set.
var scenariosOfTheNight = []scenario[*production]{
	{"changes and cancels shortly before", (*production).racesWhileHeld},
	{"rolling restart", (*production).rollingRestart},
	{"worker killed in mid-callback", (*production).workerKilled},
	{"PostgreSQL stopped at once", (*production).postgresStoppedAtOnce},
}

var scenariosOfStandalone = []scenario[*standalone]{
	{"disk full", (*standalone).diskFull},
	{"killed in mid-callback", (*standalone).killed},
	{"clock set", (*standalone).clockIsSet},
}

func each[Deployment any](t *testing.T, scenarios []scenario[Deployment], deploy func(*testing.T) Deployment) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if long {
				t.Parallel()
			}
			s.run(deploy(t))
		})
	}
}
