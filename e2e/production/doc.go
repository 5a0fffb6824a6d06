// Package production runs what docker-compose.yml describes, without the
// containers.
package production
