package console

// Route is one of the table, for tests.
type Route struct {
	Name              string
	Changes, SignedIn bool
}

// Routes are those of the table.
func Routes() (all []Route) {
	for _, r := range routesOf(&Site{}) {
		if r.method != "" {
			all = append(all, Route{Name: r.method + " " + r.path, Changes: r.access == changing, SignedIn: r.access != open})
		}
	}
	return all
}
