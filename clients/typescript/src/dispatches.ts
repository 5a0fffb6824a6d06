import { setImmediate as turn } from "node:timers/promises";
import {
  type Answer,
  type Api,
  at,
  type CallOptions,
  type ChangeOptions,
  given,
  signalOf,
  take,
  taken,
} from "./api.js";
import { isUnavailable, NetworkError, Problem } from "./errors.js";
import { encode } from "./json.js";
import type { Sleep } from "./manners.js";
import { itemsOf, linesOf, textLinesOf } from "./pages.js";
import { pauseAfter } from "./pause.js";
import type { Dispatch, DispatchFailure, DispatchItem, DispatchOrder, Key } from "./schema.js";

/** A change of a dispatch. */
export interface DispatchChanged {
  dispatch: Dispatch;
  /** Whether no worker has applied it in time; it is durable. */
  pending: boolean;
}

/** How often a stream is opened without a word in between, and how it waits before the next time. */
export interface Patience {
  tries: number;
  sleep: Sleep;
}

/** Calls many items back at one flat rate. */
export class Dispatches {
  readonly #api: Api;
  readonly #patience: Patience;

  constructor(api: Api, patience: Patience) {
    this.#api = api;
    this.#patience = patience;
  }

  /** Starts a dispatch, or opens it for an upload. `created` is false where the same one was there already. */
  async start(order: DispatchOrder, options?: CallOptions): Promise<{ dispatch: Dispatch; created: boolean }> {
    const { data, response } = await taken(this.#api.POST("/v1/dispatches", { body: order, ...signalOf(options) }));
    return { dispatch: data, created: response.status === 201 };
  }

  /**
   * Sends the items of a dispatch that was opened for them, and so starts it. `from` is how many items are stored
   * that shall be kept, and `items` are those behind them. An error of `items` ends the upload, which starts nothing,
   * and is thrown. A refusal and the end of the signal end `items`, as a `break` would. An upload is made once: one that breaks off has stored `uploaded` items, and can go on from there.
   * An item is sent as a line: the line breaks of a `rawJSON` become spaces.
   */
  async upload(
    key: Key,
    items: Iterable<DispatchItem> | AsyncIterable<DispatchItem>,
    options?: CallOptions & { from?: number },
  ): Promise<Dispatch> {
    const lines = new Lines(items);
    const call = this.#api.PUT("/v1/dispatches/{type}/{id}/items", {
      params: { path: at(key), query: given({ from: options?.from }) },
      headers: { "Content-Type": "application/x-ndjson" },
      body: lines.body as never, // the document describes one line of it
      duplex: "half",
      ...signalOf(options),
    } as never) as Promise<Answer<Dispatch>>;
    try {
      return await take(call);
    } catch (error) {
      throw lines.failed ? lines.failure : error;
    } finally {
      lines.end().catch(() => {}); // it says nothing of the upload
    }
  }

  /** Returns a dispatch as it stands. */
  get(key: Key, options?: CallOptions): Promise<Dispatch> {
    return take(this.#api.GET("/v1/dispatches/{type}/{id}", { params: { path: at(key) }, ...signalOf(options) }));
  }

  /** Changes the rate. */
  setRate(key: Key, perSecond: number, options?: ChangeOptions): Promise<DispatchChanged> {
    return changed(
      this.#api.PATCH("/v1/dispatches/{type}/{id}", { body: { per_second: perSecond }, ...of(key, options) }),
    );
  }

  /** Stops a dispatch until it is resumed. */
  pause(key: Key, options?: ChangeOptions): Promise<DispatchChanged> {
    return changed(this.#api.POST("/v1/dispatches/{type}/{id}/pause", of(key, options)));
  }

  /** Lets a paused dispatch go on. */
  resume(key: Key, options?: ChangeOptions): Promise<DispatchChanged> {
    return changed(this.#api.POST("/v1/dispatches/{type}/{id}/resume", of(key, options)));
  }

  /** Ends a dispatch. One that is cancelled already is no problem. */
  cancel(key: Key, options?: ChangeOptions): Promise<DispatchChanged> {
    return changed(this.#api.DELETE("/v1/dispatches/{type}/{id}", of(key, options)));
  }

  /** Sends the items once more that were given up, when the dispatch has ended, and tells how many they are. */
  retryFailures(key: Key, options?: CallOptions): Promise<{ retried: number; dispatch: Dispatch }> {
    const params = { path: at(key) };
    return take(this.#api.POST("/v1/dispatches/{type}/{id}/retry-failures", { params, ...signalOf(options) }));
  }

  /** Reads the items that were given up. */
  failures(key: Key, options?: CallOptions): AsyncGenerator<DispatchFailure> {
    const init = { params: { path: at(key) }, parseAs: "stream", ...signalOf(options) } as const;
    return linesOf({ call: () => this.#api.GET("/v1/dispatches/{type}/{id}/failures", init), signal: options?.signal });
  }

  /**
   * Tells how a dispatch stands, once a second, until it has ended. A stream that breaks off is opened again, as often
   * as a call is tried without a word in between.
   */
  async *follow(key: Key, options?: CallOptions): AsyncGenerator<Dispatch> {
    for (let failures = 0; ; ) {
      try {
        for await (const { dispatch, last } of this.#events(key, options)) {
          failures = 0;
          yield dispatch;
          if (last) return;
        }
      } catch (error) {
        if (!isUnavailable(error) || ++failures >= this.#patience.tries) throw error;
        const pause = pauseAfter(failures, error instanceof Problem ? error.retryAfter : undefined);
        await this.#patience.sleep(pause, options?.signal ?? new AbortController().signal);
      }
    }
  }

  /** One stream of events. It breaks off where it ends without the last one. */
  async *#events(key: Key, options?: CallOptions): AsyncGenerator<{ dispatch: Dispatch; last: boolean }> {
    const init = { params: { path: at(key) }, parseAs: "stream", ...signalOf(options) } as const;
    const call = () => this.#api.GET("/v1/dispatches/{type}/{id}/events", init);
    let kind = "";
    for await (const line of textLinesOf({ call, signal: options?.signal })) {
      const [, name, text = ""] = /^(event|data): ?(.*)$/.exec(line) ?? [];
      if (name === "event") kind = text;
      if (name === "data") yield { dispatch: JSON.parse(text) as Dispatch, last: kind === "end" };
    }
    throw new NetworkError("Wakecall", true, new Error("the stream broke off"));
  }

  /** Lists dispatches, page after page. A list lags behind by a moment. */
  list(
    filter: { business_type?: string; status?: Dispatch["status"] } = {},
    options?: CallOptions,
  ): AsyncGenerator<Dispatch> {
    const read = (page_token?: string) =>
      this.#api.GET("/v1/dispatches", {
        params: { query: { ...filter, ...given({ page_token }) } },
        ...signalOf(options),
      });
    return itemsOf(read, (page) => page.dispatches);
  }
}

function of(key: Key, options: ChangeOptions | undefined) {
  return { params: { path: at(key), query: given({ wait: options?.wait }) }, ...signalOf(options) };
}

async function changed(call: Promise<Answer<Dispatch>>): Promise<DispatchChanged> {
  const { data, response } = await taken(call);
  return { dispatch: data, pending: response.status === 202 };
}

/** How many bytes are written until the answer is looked for, which may come early. */
const unheard = 64 * 1024;

/** Items as lines. None is kept once it is sent. */
class Lines {
  readonly body: ReadableStream<Uint8Array>;
  /** Whether there was no next line, and why. `fetch` would tell of a connection that broke. */
  failed = false;
  failure: unknown;
  readonly #source: Iterator<DispatchItem> | AsyncIterator<DispatchItem>;
  readonly #encoder = new TextEncoder();
  #over = false;
  #written = 0;

  constructor(items: Iterable<DispatchItem> | AsyncIterable<DispatchItem>) {
    this.#source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    this.body = new ReadableStream({
      pull: async (controller) => {
        const line = await this.#next();
        if (line === undefined) controller.close();
        else controller.enqueue(line);
      },
      cancel: () => this.end(),
    });
  }

  async #next(): Promise<Uint8Array | undefined> {
    try {
      // A source that never waits would keep Node from reading: the connection of an early answer would break unread.
      if (this.#written > unheard) {
        this.#written = 0;
        await turn();
      }
      const { done, value } = await this.#source.next();
      this.#over = done === true;
      if (done) return undefined;
      const line = this.#encoder.encode(`${lineOf(value)}\n`);
      this.#written += line.length;
      return line;
    } catch (error) {
      this.failed = true;
      this.failure = error;
      throw error;
    }
  }

  /** Tells the source that no more is read. */
  async end(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    await this.#source.return?.();
  }
}

/** An item on one line: within JSON a line break is white space between its parts. */
function lineOf(item: DispatchItem): string {
  return encode(item).replaceAll("\n", " ");
}
