// Package preload waits in memory until a timer is due, and checks on the way whether it is
// still wanted. Start at [Preloader.Await].
package preload
