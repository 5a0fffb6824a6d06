import type { paths } from "./openapi.js";

type PathOf<Method extends string> = {
  [Path in keyof paths]: paths[Path] extends { [M in Method]: unknown } ? Path : never;
}[keyof paths];

/** Bookings, which carry an idempotency key. */
export const keyed = ["/v1/timers", "/v1/timers/batch"] as const satisfies PathOf<"post">[];

/** POSTs that do the same when they are made twice. */
export const repeatable = [
  ...keyed,
  "/v1/dispatches",
  "/v1/dispatches/{type}/{id}/pause",
  "/v1/dispatches/{type}/{id}/resume",
  "/v1/deliveries/{webhook_id}/ack",
  "/v1/deliveries/{webhook_id}/nack",
  "/v1/emergency/pause",
  "/v1/emergency/resume",
  "/v1/recurrences/preview",
  "/v1/streams/{type}/answers",
] as const satisfies PathOf<"post">[];

/** POSTs that do the same when they are made twice, where their body has an id. */
export const named = ["/v1/bulk"] as const satisfies PathOf<"post">[];

/** POSTs that may do more when they are made twice. */
export const once = [
  "/v1/timers/{type}/{id}/fire",
  "/v1/timers/{type}/{id}/pause",
  "/v1/timers/{type}/{id}/redeliver",
  "/v1/timers/{type}/{id}/resume",
  "/v1/dispatches/{type}/{id}/retry-failures",
  "/v1/policies/{type}/test",
] as const satisfies PathOf<"post">[];

/** Calls whose body or answer may go on for ever, and which are made once. */
export const endless = [
  "/v1/bulk/{id}/results",
  "/v1/dispatches/{type}/{id}/events",
  "/v1/dispatches/{type}/{id}/failures",
  "/v1/dispatches/{type}/{id}/items",
] as const satisfies (keyof paths)[];

/** DELETEs for which a 404 says, after a try that may have taken effect, that it has. */
export const gone = ["/v1/policies/{type}"] as const satisfies PathOf<"delete">[];

/** What may be done with a call that has failed. */
export interface Rule {
  /** Whether it must not be made again when it may have taken effect. */
  once: boolean;
  keyed: boolean;
  gone: boolean;
  endless: boolean;
}

/** The rule of a call. A POST that stands in no list is made once. */
export function ruleOf(method: string, path: string, headers: Headers, body: string): Rule {
  const is = (list: readonly string[]) => list.some((template) => matches(template, path));
  const post = method === "POST";
  // The second try of a change of one version would find another version.
  const conditional = headers.has("If-Match") || headers.has("If-None-Match");
  return {
    once: conditional || (post && !is(repeatable) && !(is(named) && hasId(body))),
    keyed: post && is(keyed),
    gone: method === "DELETE" && is(gone),
    endless: is(endless),
  };
}

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
}

function hasId(body: string): boolean {
  const value: unknown = JSON.parse(body);
  return typeof value === "object" && value !== null && "id" in value;
}
