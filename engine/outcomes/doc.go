// Package outcomes counts how timers ended, minute by minute, in visibility. It counts in the
// background, for the business types that are asked for or that had a failure, and keeps the
// counts in memory. A reader starts with [Outcomes.Between].
package outcomes
