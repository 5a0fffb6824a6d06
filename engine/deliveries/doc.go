// Package deliveries takes what receivers say later of deliveries that they accepted. A reader
// starts with [Deliveries.Acknowledge].
package deliveries
