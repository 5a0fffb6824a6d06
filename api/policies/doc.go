// Package policies answers the calls on policies: show, list, put, patch and delete, their
// versions, and back-pressure.
//
// [Register] adds the calls. [Read] reads a policy from a body, and [ReadPatch] a merge patch.
package policies
