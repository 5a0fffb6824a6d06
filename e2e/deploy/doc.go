// Package deploy tests the deployment files without a container: docker-compose.yml, the
// Dockerfile, and the files in deploy/.
package deploy
