package job

import "github.com/wakecall/wakecall/core/wire"

// AfterCount returns the order with the pages of the dry run that it names. An order for other timers
// than the dry run has stored is refused: a dry run of an earlier version has stored none.
func (b Bulk) AfterCount(count Bulk, status Status, progress BulkProgress) (Bulk, error) {
	stored := progress.Found != nil && (*progress.Found == 0 || progress.Pages > 0)
	if !count.DryRun || status != Done || !stored || b.Operation != count.Operation || !b.Filter.Same(count.Filter) {
		return b, ErrNoCount()
	}
	b.CountedPages = progress.Pages
	return b, nil
}

// ErrNoCount returns the refusal of an order that names no dry run of its own timers.
func ErrNoCount() error {
	return wire.FieldErrors{{Pointer: "/counted", Code: wire.CodeConflict,
		Detail: "must be the id of a dry run that is done and kept, with the same operation and the filter that it shows; count again"}}.Err()
}
