// Package emergencies pauses the callbacks of business types, or of all, and resumes them. A
// reader starts with [Emergencies].
package emergencies
