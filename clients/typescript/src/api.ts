import createClient, { type Client } from "openapi-fetch";
import { Problem } from "./errors.js";
import { encode } from "./json.js";
import { Manners, type Sleep } from "./manners.js";
import type { paths } from "./openapi.js";
import type { Settings } from "./options.js";
import type { Timer } from "./schema.js";

/** Every operation of the OpenAPI document, by its path, with the manners of this client. */
export type Api = Client<paths>;

/** The query of an operation that reads. */
export type Query<Path extends keyof paths> = NonNullable<
  paths[Path] extends { get: { parameters: { query?: infer Q } } } ? Q : never
>;

/** What openapi-fetch answers. */
export interface Answer<T> {
  data?: T | undefined;
  error?: unknown;
  response: Response;
}

/** What may be said of every call. */
export interface CallOptions {
  /** Ends the call, and a wait for its next try. */
  signal?: AbortSignal | undefined;
}

/** What may be said of a change. */
export interface ChangeOptions extends CallOptions {
  /** How long to wait for the effect, `0s` to `30s`; 2 seconds where it is left out. */
  wait?: string;
}

/** What may be said of a change of a timer. */
export interface TimerChangeOptions extends ChangeOptions {
  /** An `etag`: the change is made on that revision, or refused with 412. It is not repeated when its answer is lost. */
  ifMatch?: string;
}

/** A change of a timer. */
export interface Changed {
  timer: Timer;
  /** Whether no worker has applied it in time: it is durable, and is applied before any callback. */
  pending: boolean;
  /** The revision, for `ifMatch`. */
  etag: string | undefined;
}

/** Makes the calls. */
export function apiOf(settings: Settings, sleep?: Sleep): Api {
  const manners = new Manners(settings, sleep);
  return createClient<paths>({
    baseUrl: settings.url,
    fetch: (request) => manners.fetch(request),
    bodySerializer: (body: unknown) =>
      typeof body === "string" || body instanceof ReadableStream ? body : encode(body),
    pathSerializer: pathOf,
  });
}

/** Fills in a path. A segment of dots would lead to another call. */
function pathOf(template: string, values: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[name] ?? "");
    if (value === "" || value === "." || value === "..") throw new TypeError(`${name} must not be empty, "." or ".."`);
    return encodeURIComponent(value);
  });
}

/** The data of an answer. What was refused is thrown as a {@link Problem}. */
export async function take<T>(call: Promise<Answer<T>>): Promise<T> {
  return (await taken(call)).data;
}

/** The data and the response of an answer. */
export async function taken<T>(call: Promise<Answer<T>>): Promise<{ data: T; response: Response }> {
  const { data, error, response } = await call.catch((reason: unknown) => {
    if (reason instanceof SyntaxError) throw new Error("the answer is not from Wakecall", { cause: reason });
    throw reason;
  });
  if (!response.ok) throw Problem.of(response, error);
  return { data: data as T, response };
}

/** A change of a timer, as it was answered. */
export async function changed(call: Promise<Answer<Timer>>): Promise<Changed> {
  const { data, response } = await taken(call);
  return { timer: data, pending: response.status === 202, etag: response.headers.get("ETag") ?? undefined };
}

/** The parameters of a timer or dispatch in a path. */
export function at(key: { business_type: string; business_id: string }): { type: string; id: string } {
  return { type: key.business_type, id: key.business_id };
}

/** An object without what is undefined. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

/** Only the signal of the options of a call. */
export function signalOf(options: CallOptions | undefined): { signal?: AbortSignal } {
  return given({ signal: options?.signal });
}
