// Package deploy tests the files that Wakecall is deployed with, without a
// container: docker-compose.yml, the Dockerfile, and what is in deploy/.
package deploy
