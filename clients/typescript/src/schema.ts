import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** A timer as it stands. */
export type Timer = Schemas["Timer"];
/** What books a timer: a key and terms. */
export type Booking = Schemas["NewTimer"];
/** What may be changed of a timer. What is left out stays as it is. */
export type Change = Schemas["TimerChange"];
/** The status of a timer. */
export type Status = Schemas["Status"];
/** The rule of a recurring timer. */
export type Recurrence = Schemas["Recurrence"];
/** The next times of a rule, or why there is none. */
export type Upcoming = Schemas["Upcoming"];
/** An attempt that was made for a timer. */
export type Attempt = Schemas["Attempt"];
/** What happened to a timer, and who did it. */
export type HistoryEntry = Schemas["HistoryEntry"];
/** An occurrence of a recurring timer that is over. */
export type PastOccurrence = Schemas["PastOccurrence"];
/** What is put as a policy. */
export type NewPolicy = Schemas["NewPolicy"];
/** A JSON merge patch of a policy. */
export type PolicyPatch = Schemas["PolicyPatch"];
/** A policy as it stands. */
export type Policy = Schemas["Policy"];
/** What starts a dispatch. */
export type DispatchOrder = Schemas["DispatchOrder"];
/** A dispatch as it stands. */
export type Dispatch = Schemas["Dispatch"];
/** What one callback of a dispatch is about. */
export type DispatchItem = Schemas["DispatchItem"];
/** An item of a dispatch that was given up. */
export type DispatchFailure = Schemas["DispatchFailure"];
/** What starts a bulk job. */
export type BulkOrder = Schemas["BulkOrder"];
/** A bulk job as it stands. */
export type BulkJob = Schemas["BulkJob"];
/** What became of one timer of a bulk job. */
export type BulkLine = Schemas["BulkLine"];
/** What is paused or resumed in an emergency. */
export type EmergencyOrder = Schemas["EmergencyOrder"];
/** What is held back, and whether that may not be all. */
export type Held = Schemas["Emergencies"];
/** An emergency pause that is in force. */
export type Emergency = Schemas["Emergency"];
/** A value that was refused, and why. */
export type FieldError = Schemas["FieldError"];
/** The document of an error. */
export type ProblemDocument = Schemas["Problem"];

type CodeOf<T> = T extends `urn:wakecall:problem:${infer Code}` ? Code : never;

/** What kind of problem it is. The list is closed. */
export type ProblemCode = CodeOf<Schemas["ProblemType"]>;

/** Names a timer or a dispatch. What Wakecall answers is such a key as well. */
export interface Key {
  business_type: string;
  business_id: string;
}

/**
 * A length of time as the API writes it: `90s`, `30m`, `72h`.
 *
 * @param ms its milliseconds
 */
export function milliseconds(ms: number): string {
  return `${ms}ms`;
}
