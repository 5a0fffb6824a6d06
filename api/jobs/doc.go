// Package jobs answers the calls on jobs: start, show, list, stop, and the results of a bulk job.
//
// [Register] adds the calls on bulk jobs. A kind of job differs from another in its order and in
// what a reader is shown of it; the handlers are the same.
package jobs
