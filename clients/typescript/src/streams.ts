import { type Api, type CallOptions, given, signalOf, take } from "./api.js";
import { Problem } from "./errors.js";
import type { components } from "./openapi.js";
import { pauseAfter, sleep } from "./pause.js";
import { Refused, type Ring, type RingHandler, ringOf } from "./ring.js";
import { milliseconds } from "./schema.js";

type Message = components["schemas"]["Ring"];
type Answer = components["schemas"]["RingAnswer"];

/** What may be said of listening. */
export interface ListenOptions extends CallOptions {
  /** How many rings are taken at once; 1 where it is left out. */
  max?: number;
  /** Is told of each error after which it goes on, and of when. */
  lost?: (error: unknown, next: number) => void;
}

/** The longest wait of a poll for a ring, in milliseconds. */
const longestWait = 30_000;

/** The longest wait that a receiver may ask for, in milliseconds. */
const longestDelay = 3_600_000;

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
   * handler does not take comes again on the ladder. An error that no other try would mend ends it as well.
   */
  async listen(type: string, handler: RingHandler, options: ListenOptions & { signal: AbortSignal }): Promise<never> {
    for (let failures = 0; ; ) {
      options.signal.throwIfAborted();
      try {
        await this.#poll(type, handler, options);
        failures = 0;
      } catch (error) {
        if (options.signal.aborted || isFinal(error)) throw error;
        const next = pauseAfter(++failures, error instanceof Problem ? error.retryAfter : undefined);
        options.lost?.(error, next);
        await sleep(next, options.signal);
      }
    }
  }

  async #poll(type: string, handler: RingHandler, options: ListenOptions): Promise<void> {
    const params = { path: { type }, query: given({ max: options.max, wait: milliseconds(this.#wait) }) };
    const { rings } = await take(this.#api.GET("/v1/streams/{type}", { params, ...signalOf(options) }));
    await Promise.all(rings.map(async (message) => this.#answer(type, await answerTo(message, handler), options)));
  }

  /**
   * A ring that is over was answered by an earlier try, or goes to another receiver. An answer that is refused concerns
   * its ring alone.
   */
  async #answer(type: string, body: Answer, options: ListenOptions): Promise<void> {
    const call = this.#api.POST("/v1/streams/{type}/answers", {
      params: { path: { type } },
      body,
      ...signalOf(options),
    });
    await take(call).catch((error: unknown) => {
      if (error instanceof Problem && error.code === "ring-over") return;
      throw isFinal(error) ? new Error("the answer to a ring was refused", { cause: error }) : error;
    });
  }
}

async function answerTo(message: Message, handler: RingHandler): Promise<Answer> {
  try {
    const verdict = await handler(ringFrom(message));
    return verdict === "last" ? { ack: message.ring, stop: true } : { ack: message.ring };
  } catch (error) {
    if (!(error instanceof Refused)) return { nack: message.ring };
    return {
      nack: message.ring,
      ...given({
        reason: error.message || undefined,
        delay: delayOf(error.retryAfter),
        no_retry: error.final || undefined,
      }),
    };
  }
}

/** The wait that a receiver asks for, as far as Wakecall takes it. */
function delayOf(asked = 0): string | undefined {
  const delay = Math.round(Math.min(asked, longestDelay));
  return delay > 0 ? milliseconds(delay) : undefined;
}

function ringFrom(message: Message): Ring {
  const body = message.body_base64 === undefined ? (message.body ?? "") : Buffer.from(message.body_base64, "base64");
  return ringOf(new Headers(message.headers), Buffer.from(body as string));
}

/** Whether connecting again would not help: a policy may still come. */
function isFinal(error: unknown): boolean {
  return error instanceof Problem && [400, 401, 403, 422].includes(error.status);
}
