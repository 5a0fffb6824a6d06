package console

import "github.com/wakecall/wakecall/console/site"

// Route is one of the table, for tests.
type Route struct {
	Name              string
	Changes, SignedIn bool
}

// Routes are those of the table.
func Routes() (all []Route) {
	for _, r := range routesOf(&site.Site{}) {
		if r.Method != "" {
			all = append(all, Route{Name: r.Method + " " + r.Path, Changes: r.Access == site.Changing, SignedIn: r.Access != site.Open})
		}
	}
	return all
}
