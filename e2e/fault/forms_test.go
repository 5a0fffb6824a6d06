package fault

import "testing"

// form is how Wakecall runs on PostgreSQL: by which of its services timers are booked,
// and by which they ring.
type form struct {
	name, label     string
	gateway, worker string
}

var (
	roles = form{name: "roles", gateway: "api", worker: "worker"}
	// node is what docs/production.md recommends. What is booked less than a minute ahead is
	// in a worker's hands from its booking on.
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

// services are Wakecall's, in the order in which they are updated.
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

// other is what a second process of a service goes by.
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
