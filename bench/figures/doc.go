// Command figures draws the figures of docs from the results beside them, and writes the summaries
// of these results into their pages:
//
//	(cd bench && go run ./figures)
//
// The results are the CSV files of docs/results. A reader starts with outputs, which says what is
// made from which file. A test holds that docs has what this command would write.
package main
