// Package site is what all pages share: the frame around them, their templates and their style, the
// calls that they make, and the routes by which they answer.
//
// A room of pages has a type Pages around a [Site], with a method for each of its [Route]s, and a
// struct for each page. The template of the page has its name. Start with [Site] and [Visit].
package site
