// Package alerts raises the alerts that no workflow raises. A reader starts with [Alerts.Raise].
package alerts
