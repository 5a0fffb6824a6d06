// Package audits records the calls that change something.
//
// [Record] opens the record of a call and closes it with the answer. [Begin] refuses a call that
// cannot be recorded. Between the two, a handler adds what it knows to the [Entry] of its request;
// see [EntryOf]. [RecordForms] records the forms of the console that are refused before any call.
package audits
