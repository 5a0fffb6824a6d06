import { type Api, type CallOptions, given, take } from "./api.js";
import { Problem } from "./errors.js";
import type { components } from "./openapi.js";
import type { Settings } from "./options.js";
import { pauseAfter, sleep } from "./pause.js";
import { Refused, type Ring, type RingHandler, ringOf } from "./ring.js";
import { milliseconds } from "./schema.js";

type Message = components["schemas"]["Ring"];
type Answer = components["schemas"]["RingAnswer"];

/** What may be said of listening. */
export interface ListenOptions extends CallOptions {
  /** How many rings are taken at once; 1 where it is left out. */
  max?: number;
  /** Is told of each error after which it goes on, and in how many milliseconds. */
  lost?: (error: unknown, next: number) => void;
  /** Is told of each error of the handler that is no {@link Refused}. */
  failed?: (error: unknown) => void;
}

/** The longest wait of a poll for a ring, in milliseconds. */
const longestWait = 30_000;

/** How much of a reason Wakecall stores, in bytes. */
const longestReason = 400;

/** The settings of polls. A poll is answered after its wait: a timeout for other calls may be much longer. */
export function pollSettings(settings: Settings): Settings {
  return { ...settings, timeout: Math.min(settings.timeout, 2 * longestWait) };
}

/** Connects receivers that nobody can call, by long polls. */
export class Streams {
  readonly #api: Api;
  readonly #wait: number;

  /**
   * @param timeout the longest time of a call in milliseconds, of which a poll waits for half
   */
  constructor(api: Api, timeout: number) {
    this.#api = api;
    this.#wait = Math.min(longestWait, Math.floor(timeout / 2));
  }

  /**
   * Takes the rings of a business type until the signal ends it, and fails then with its reason. A ring that the
   * handler does not take comes again on the ladder, with the error's text as the reason. An error that no other try
   * would mend ends it as well. It ends when its last handler has. What a handler says after the signal is not sent:
   * the ring comes again.
   */
  async listen(type: string, handler: RingHandler, options: ListenOptions & { signal: AbortSignal }): Promise<never> {
    const listener = new Listener(this.#api, { type, wait: this.#wait, handler, options });
    try {
      return await listener.run();
    } finally {
      await listener.idle();
    }
  }
}

/** What a listener is made of. */
interface Listening {
  type: string;
  /** How long a poll waits for a ring, in milliseconds. */
  wait: number;
  handler: RingHandler;
  options: ListenOptions & { signal: AbortSignal };
}

/** Polls while it has room for a ring. A slow handler keeps its own place only. */
class Listener {
  readonly #api: Api;
  readonly #listening: Listening;
  /** Ends with the caller's signal, and with an error that the caller's own code throws. */
  readonly #signal: AbortSignal;
  readonly #broken = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(api: Api, listening: Listening) {
    this.#api = api;
    this.#listening = listening;
    this.#signal = AbortSignal.any([listening.options.signal, this.#broken.signal]);
  }

  async run(): Promise<never> {
    for (let failures = 0; ; ) {
      const room = await this.#room();
      this.#signal.throwIfAborted();
      try {
        for (const message of await this.#poll(room)) this.#start(message);
        failures = 0;
      } catch (error) {
        this.#signal.throwIfAborted();
        if (isFinal(error)) throw error;
        const next = pauseAfter(++failures, error instanceof Problem ? error.retryAfter : undefined);
        this.#listening.options.lost?.(error, next);
        await sleep(next, this.#signal);
      }
    }
  }

  /** Waits until every ring has ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Waits until a ring may be taken, and says how many may. */
  async #room(): Promise<number> {
    const { max = 1 } = this.#listening.options;
    while (this.#running.size > 0 && this.#running.size >= max) await Promise.race(this.#running);
    return max - this.#running.size;
  }

  async #poll(max: number): Promise<Message[]> {
    const params = { path: { type: this.#listening.type }, query: { max, wait: milliseconds(this.#listening.wait) } };
    return (await take(this.#api.GET("/v1/streams/{type}", { params, signal: this.#signal }))).rings;
  }

  #start(message: Message): void {
    const ended = this.#serve(message)
      .catch((error: unknown) => this.#broken.abort(error))
      .finally(() => this.#running.delete(ended));
    this.#running.add(ended);
  }

  async #serve(message: Message): Promise<void> {
    const { handler, options } = this.#listening;
    const body = await answerTo(message, handler, options.failed);
    if (this.#signal.aborted) return;
    await this.#answer(body).catch((error: unknown) => {
      if (!this.#signal.aborted) options.lost?.(error, 0);
    });
  }

  /**
   * A ring that is over was answered by an earlier try, or goes to another receiver. An answer that is refused concerns
   * its ring alone.
   */
  async #answer(body: Answer): Promise<void> {
    const params = { path: { type: this.#listening.type } };
    const call = this.#api.POST("/v1/streams/{type}/answers", { params, body, signal: this.#signal });
    await take(call).catch((error: unknown) => {
      if (error instanceof Problem && error.code === "ring-over") return;
      throw isFinal(error) ? new Error("the answer to a ring was refused", { cause: error }) : error;
    });
  }
}

async function answerTo(message: Message, handler: RingHandler, failed: ListenOptions["failed"]): Promise<Answer> {
  try {
    const verdict = await handler(ringFrom(message));
    return verdict === "last" ? { ack: message.ring, stop: true } : { ack: message.ring };
  } catch (error) {
    if (!(error instanceof Refused)) failed?.(error);
    const refused =
      error instanceof Refused ? error : new Refused(error instanceof Error ? error.message : String(error));
    return {
      nack: message.ring,
      ...given({
        reason: reasonOf(refused.message),
        delay: refused.retryAfter === undefined ? undefined : milliseconds(refused.retryAfter),
        no_retry: refused.final || undefined,
        stop: refused.last || undefined,
      }),
    };
  }
}

/** As much of a reason as Wakecall stores, as a text that JSON can hold. */
function reasonOf(text: string): string | undefined {
  return Buffer.from(text.slice(0, longestReason)).toString() || undefined;
}

function ringFrom(message: Message): Ring {
  const body = message.body_base64 === undefined ? (message.body ?? "") : Buffer.from(message.body_base64, "base64");
  return ringOf(new Headers(message.headers), Buffer.from(body as string));
}

/** Whether connecting again would not help: a policy may still come. */
function isFinal(error: unknown): boolean {
  return error instanceof Problem && [400, 401, 403, 422].includes(error.status);
}
