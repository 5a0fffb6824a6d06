import { randomUUID } from "node:crypto";
import { NetworkError, Problem } from "./errors.js";
import type { Settings } from "./options.js";
import { pauseAfter, sleep } from "./pause.js";
import { type Rule, ruleOf } from "./repeat.js";
import { Patience } from "./silence.js";

/** Above the largest answer, a batch of 1,000 problems. */
const maxAnswer = 64 * 2 ** 20;

/** Waits between two tries. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Makes calls: each with the key and a timeout, and again where that is safe and worth it. */
export class Manners {
  readonly #settings: Settings;
  readonly #sleep: Sleep;

  constructor(settings: Settings, wait: Sleep = sleep) {
    this.#settings = settings;
    this.#sleep = wait;
  }

  /** Where the calls go, for errors. */
  get where(): string {
    return `Wakecall at ${new URL(this.#settings.url).origin}`;
  }

  /** Makes a call. It fails with a {@link NetworkError}, or with the reason of the signal. */
  async fetch(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname.slice(new URL(this.#settings.url).pathname.replace(/\/$/, "").length);
    const endless = ruleOf(request.method, path, request.headers, "{}").endless;
    if (endless) return this.#attend(request);
    const body = request.body === null ? undefined : await request.text();
    const rule = ruleOf(request.method, path, request.headers, body ?? "");
    if (rule.keyed && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", `"${randomUUID()}"`);
    }
    return this.#repeat(request, body, rule);
  }

  async #repeat(request: Request, body: string | undefined, rule: Rule): Promise<Response> {
    for (let tries = 1, unknown = false; ; tries++) {
      const outcome = await this.#try(request, body);
      if (unknown && rule.gone && (await isAbsent(outcome))) return new Response(null, { status: 204 });
      if (tries >= this.#settings.tries || !mayRepeat(outcome, rule.once)) return taken(outcome);
      unknown ||= !mayRepeat(outcome, true);
      await this.#sleep(pauseAfter(tries, askedBy(outcome)), request.signal);
    }
  }

  /** Makes a call of any length, once. It fails when Wakecall is silent for too long. */
  async #attend(request: Request): Promise<Response> {
    const patience = new Patience(request.signal, this.where);
    const body = request.body === null ? null : patience.sent(request.body);
    patience.wait();
    try {
      return patience.received(await this.#send(request, body, patience.signal));
    } finally {
      patience.rest();
    }
  }

  /** One try. What the caller ended, and what took too long, is thrown: it is not made again. */
  async #try(request: Request, body: string | undefined): Promise<Response | NetworkError> {
    const { timeout } = this.#settings;
    const late = timeout === Number.POSITIVE_INFINITY ? [] : [AbortSignal.timeout(timeout)];
    const signal = AbortSignal.any([request.signal, ...late]);
    try {
      return await whole(await this.#send(request, body, signal), this.where);
    } catch (error) {
      if (error instanceof NetworkError && !signal.aborted) return error;
      throw signal.aborted ? signal.reason : error;
    }
  }

  async #send(request: Request, body: BodyInit | null | undefined, signal: AbortSignal): Promise<Response> {
    const headers = new Headers(request.headers);
    if (this.#settings.key !== undefined) headers.set("Authorization", `Bearer ${this.#settings.key}`);
    // A key must not follow to where Wakecall is not.
    const init = {
      method: request.method,
      headers,
      body: body ?? null,
      signal,
      redirect: "manual",
      duplex: "half",
    } as const;
    try {
      return await this.#settings.fetch(request.url, init);
    } catch (error) {
      throw signal.aborted ? signal.reason : new NetworkError(this.where, !neverSent(error), error);
    }
  }
}

function taken(outcome: Response | NetworkError): Response {
  if (outcome instanceof NetworkError) throw outcome;
  return outcome;
}

/** Whether a call that failed may be made again: it was refused for now, was never sent, or does the same twice. */
function mayRepeat(outcome: Response | NetworkError, once: boolean): boolean {
  if (outcome instanceof NetworkError) return !outcome.untrusted && (!outcome.sent || !once);
  return outcome.status === 429 || (!once && [502, 503, 504].includes(outcome.status));
}

function askedBy(outcome: Response | NetworkError): number | undefined {
  return outcome instanceof NetworkError ? undefined : Problem.of(outcome, undefined).retryAfter;
}

async function isAbsent(outcome: Response | NetworkError): Promise<boolean> {
  if (outcome instanceof NetworkError || outcome.status !== 404) return false;
  return Problem.of(outcome, parsed(await outcome.clone().text())).code === "not-found";
}

/** A text as JSON, or undefined. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the whole of an answer: one that breaks off is lost as a whole. */
async function whole(response: Response, where: string): Promise<Response> {
  if (response.body === null || response.status === 0) return response;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk as Uint8Array<ArrayBuffer>);
      size += chunk.length;
      if (size > maxAnswer) throw new RangeError(`the answer of ${where} is larger than ${maxAnswer} bytes`);
    }
  } catch (error) {
    if (error instanceof RangeError) throw error; // another try would not mend it
    throw new NetworkError(where, true, error);
  }
  return new Response(new Blob(chunks), { status: response.status, headers: response.headers });
}

/** Whether an error of fetch came before anything was sent. */
function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && error.code === "UND_ERR_CONNECT_TIMEOUT") return true;
  if ("syscall" in error && (error.syscall === "connect" || error.syscall === "getaddrinfo")) return true;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(neverSent);
  return neverSent(error.cause);
}
