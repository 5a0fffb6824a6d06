/**
 * The TypeScript client of Wakecall's HTTP API, and what a receiver of its rings needs.
 *
 * @packageDocumentation
 */

export type { Answer, Api, CallOptions, Changed, ChangeOptions, TimerChangeOptions } from "./api.js";
export type { DispatchChanged, Dispatches } from "./dispatches.js";
export { isUnavailable, NetworkError, Problem } from "./errors.js";
export type { Bulk } from "./jobs.js";
export { type RawJSON, rawJSON } from "./json.js";
export type { components, operations, paths } from "./openapi.js";
export { defaultTimeout, defaultTries, type Options } from "./options.js";
export type { Access, Deliveries, Delivery, Emergencies, Recurrences, Server } from "./others.js";
export type { Planned, Policies, PolicyMatch } from "./policies.js";
export { fetchReceiver, type ReceiverOptions, receiver, type Taken } from "./receiver.js";
export {
  type HeadersLike,
  Refused,
  type Ring,
  type RingHandler,
  SignatureError,
  type Verdict,
  Verifier,
} from "./ring.js";
export * from "./schema.js";
export type { ListenOptions, Streams } from "./streams.js";
export type { Added, AddOptions, Booked, TimerFilter, Timers } from "./timers.js";
export { Wakecall } from "./wakecall.js";
