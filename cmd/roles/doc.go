// Package roles builds the three roles of Wakecall, api, worker and serve, from their parts, and
// starts and stops them. Serve is api and worker in one process. The production binary runs one
// of the three. The standalone one runs serve.
package roles
