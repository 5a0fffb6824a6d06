// Command figures draws the figures of docs from the results beside them, and writes the
// summaries of these results into their pages:
//
//	(cd bench && go run ./figures)
//
// The results are the CSV files of docs/results. A reader starts with outputs, which maps
// each output to its source. A test checks that docs holds the command's present output.
package main
