package fault

import "testing"

// form is how Wakecall runs on PostgreSQL: which of its services books timers, and which
// rings them.
type form struct {
	name, label     string
	gateway, worker string
}

var (
	roles = form{name: "roles", gateway: "api", worker: "worker"}
	// node is the form that docs/production.md recommends. A timer booked less than a minute
	// ahead is in a worker's hands from its booking on.
	node = form{name: "node", label: "node: ", gateway: "wakecall", worker: "wakecall"}
)

var forms = []form{roles, node}

// inEachForm runs a test of the long set in both, side by side.
func inEachForm(t *testing.T, test func(*testing.T, form)) {
	longOnly(t)
	t.Parallel()
	for _, of := range forms {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			test(t, of)
		})
	}
}

// services are Wakecall's services, in the order of an update.
func (f form) services() []string {
	if f.worker == f.gateway {
		return []string{f.worker}
	}
	return []string{f.worker, f.gateway}
}

// all is everything, in the order in which it must start.
func (f form) all() []string { return append([]string{"postgres", "temporal"}, f.services()...) }

// victims are each of its parts, and all of them, by name.
func (f form) victims() map[string][]string {
	victims := map[string][]string{"everything": f.all()}
	for _, service := range f.all() {
		victims[service] = []string{service}
	}
	return victims
}

// other is the name of a second process of a service.
func other(service string) string { return "other " + service }

// beside runs a second process of a service. A gateway gets its part of the load.
func (p *production) beside(service string) {
	started := p.deployment.Beside(service)
	p.living[other(service)] = started
	if service == p.gateway {
		p.gateways = append(p.gateways, started.URL())
	}
}

// double runs a second process of each of Wakecall's services.
func (p *production) double() {
	for _, service := range p.services() {
		p.beside(service)
	}
}
