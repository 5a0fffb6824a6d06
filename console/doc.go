// Package console is the pages for people: what is due, what went wrong, and what to press.
//
// It is a client of the HTTP API in the same process, and adds no second way to do a thing. A
// page is made of answers of the API, and a change is a call of it, in the name of who is
// signed in: role, scope, conditions and audit are those of the API, and what the console can
// do, curl can. It knows the words of the wire only, and neither the engine nor Temporal.
//
// One picture of the whole installation serves all visitors. Each visitor is shown the part that its role
// permits.
//
// Every page, filter and change is a link or a form with a full answer. None needs a script.
// What came from outside is text.
//
// Start with the routes. What all pages share is in room site, and each feature is a room of its own,
// with a file for each page. Each room says in its doc.go where to start.
package console
