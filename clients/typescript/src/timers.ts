import {
  type Api,
  at,
  type CallOptions,
  type Changed,
  changed,
  given,
  type Query,
  signalOf,
  type TimerChangeOptions,
  take,
  taken,
} from "./api.js";
import { Problem } from "./errors.js";
import type { components } from "./openapi.js";
import { itemsOf, pagesOf } from "./pages.js";
import type { Attempt, Booking, Change, HistoryEntry, Key, PastOccurrence, Timer, Upcoming } from "./schema.js";

/** Selects timers. An empty one selects all of them. */
export type TimerFilter = Omit<Query<"/v1/timers">, "page_token">;

/** What may be said of a booking. */
export interface AddOptions extends CallOptions {
  /** Names the request. One is made up where it is left out: the tries of a call are one request. */
  idempotencyKey?: string;
  /** W3C trace context, which the callback continues. */
  traceparent?: string;
}

/** A booked timer. */
export interface Booked {
  timer: Timer;
  /** Whether the timer is new; false where the same one was there already. */
  created: boolean;
  /** The revision, for `ifMatch`. */
  etag: string | undefined;
  /** How late it will probably be, since more falls due by then than its limit lets through. */
  expectedLateness: string | undefined;
}

/** What became of one booking of a batch. */
export type Added =
  | { status: number; timer: Timer; expected_lateness?: string; problem?: undefined }
  | { status: number; problem: Problem; timer?: undefined };

/** Books, moves, rings and cancels timers. */
export class Timers {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Books a timer. A repeated call books no second one, however the first one has ended. */
  async add(booking: Booking, options?: AddOptions): Promise<Booked> {
    const { data, response } = await taken(
      this.#api.POST("/v1/timers", { body: booking, params: { header: headersOf(options) }, ...signalOf(options) }),
    );
    const header = (name: string) => response.headers.get(name) ?? undefined;
    const expectedLateness = header("Wakecall-Expected-Lateness");
    return { timer: data, created: response.status === 201, etag: header("ETag"), expectedLateness };
  }

  /**
   * Books up to 1,000 timers. Each is admitted or refused for itself; the results stand in the order of the
   * bookings.
   */
  async addBatch(bookings: Booking[], options?: AddOptions): Promise<Added[]> {
    const header = headersOf(options);
    const body = { timers: bookings };
    const call = this.#api.POST("/v1/timers/batch", { body, params: { header }, ...signalOf(options) });
    return (await take(call)).results.map((result) =>
      "problem" in result ? { status: result.status, problem: new Problem(result.status, result.problem) } : result,
    );
  }

  /** Books a timer or replaces the one that is there, in one atomic step. */
  put(booking: Booking, options?: TimerChangeOptions): Promise<Changed> {
    return changed(this.#api.PUT("/v1/timers/{type}/{id}", { body: booking, ...of(booking, options) }));
  }

  /** Moves or edits a timer. */
  change(key: Key, change: Change, options?: TimerChangeOptions): Promise<Changed> {
    return changed(this.#api.PATCH("/v1/timers/{type}/{id}", { body: change, ...of(key, options) }));
  }

  /** Cancels a timer. One that is cancelled already is no problem. */
  cancel(key: Key, options?: TimerChangeOptions): Promise<Changed> {
    return changed(this.#api.DELETE("/v1/timers/{type}/{id}", of(key, options)));
  }

  /** Rings a timer now. */
  fire(key: Key, options?: TimerChangeOptions): Promise<Changed> {
    return changed(this.#api.POST("/v1/timers/{type}/{id}/fire", of(key, options)));
  }

  /** Stops a timer. The timer shows the note. */
  pause(key: Key, options?: TimerChangeOptions & { note?: string }): Promise<Changed> {
    return changed(this.#api.POST("/v1/timers/{type}/{id}/pause", { ...of(key, options), ...noteOf(options) }));
  }

  /** Lets a paused timer go on. */
  resume(key: Key, options?: TimerChangeOptions & { note?: string }): Promise<Changed> {
    return changed(this.#api.POST("/v1/timers/{type}/{id}/resume", { ...of(key, options), ...noteOf(options) }));
  }

  /** Tries a failed timer again, under the same webhook id. */
  redeliver(key: Key, options?: Omit<TimerChangeOptions, "wait">): Promise<Changed> {
    const params = { path: at(key), header: matchOf(options) };
    return changed(this.#api.POST("/v1/timers/{type}/{id}/redeliver", { params, ...signalOf(options) }));
  }

  /** Returns a timer as it stands, with its payload where that is asked for. */
  async get(key: Key, options?: CallOptions & { payload?: boolean }): Promise<Timer> {
    const params = { path: at(key), query: given({ payload: options?.payload }) };
    return take(this.#api.GET("/v1/timers/{type}/{id}", { params, ...signalOf(options) }));
  }

  /** Lists timers, page after page. A list lags behind by a moment. */
  list(filter: TimerFilter = {}, options?: CallOptions): AsyncGenerator<Timer> {
    const read = (page_token?: string) =>
      this.#api.GET("/v1/timers", { params: { query: { ...filter, ...given({ page_token }) } }, ...signalOf(options) });
    return itemsOf(read, (page) => page.timers);
  }

  /** Lists the attempts that were made for a timer, newest first. */
  attempts(key: Key, options?: CallOptions): AsyncGenerator<Attempt> {
    const read = (page_token?: string) =>
      this.#api.GET("/v1/timers/{type}/{id}/attempts", next(key, page_token, options));
    return itemsOf(read, (page) => page.attempts);
  }

  /**
   * Tells the whole story of a timer: pages from the latest back, and those of a page in the order in which they
   * happened.
   */
  async *history(key: Key, options?: CallOptions): AsyncGenerator<HistoryEntry[]> {
    const read = (page_token?: string) =>
      this.#api.GET("/v1/timers/{type}/{id}/history", next(key, page_token, options));
    for await (const page of pagesOf(read)) yield page.entries;
  }

  /** Lists the occurrences of a recurring timer that are over, newest first. */
  occurrences(key: Key, options?: CallOptions): AsyncGenerator<PastOccurrence> {
    const read = (page_token?: string) =>
      this.#api.GET("/v1/timers/{type}/{id}/occurrences", next(key, page_token, options));
    return itemsOf(read, (page) => page.occurrences);
  }

  /** Returns the next times of a recurring timer, or why there is none. */
  upcoming(key: Key, options?: CallOptions & { count?: number }): Promise<Upcoming> {
    const params = { path: at(key), query: given({ count: options?.count }) };
    return take(this.#api.GET("/v1/timers/{type}/{id}/upcoming", { params, ...signalOf(options) }));
  }

  /** Counts timers by status: of all business types that have a policy, or of one. */
  stats(filter: Query<"/v1/stats"> = {}, options?: CallOptions): Promise<components["schemas"]["Stats"]> {
    return take(this.#api.GET("/v1/stats", { params: { query: filter }, ...signalOf(options) }));
  }

  /** How punctual timers were, and what is left of the error budget, by business type. */
  objectives(filter: Query<"/v1/slo"> = {}, options?: CallOptions): Promise<components["schemas"]["ObjectiveReports"]> {
    const asked = this.#api.GET("/v1/slo", { params: { query: filter }, ...signalOf(options) });
    return take(asked) as Promise<components["schemas"]["ObjectiveReports"]>; // CSV is for who accepts it
  }

  /** How timers ended and how late they rang, in each step of the time past. */
  outcomes(filter: Query<"/v1/outcomes"> = {}, options?: CallOptions): Promise<components["schemas"]["Outcomes"]> {
    return take(this.#api.GET("/v1/outcomes", { params: { query: filter }, ...signalOf(options) }));
  }

  /** Tells how many timers of a business type fall due in each step ahead. */
  forecast(filter: Query<"/v1/forecast">, options?: CallOptions): Promise<components["schemas"]["Forecast"]> {
    return take(this.#api.GET("/v1/forecast", { params: { query: filter }, ...signalOf(options) }));
  }
}

function headersOf(options: AddOptions | undefined) {
  const key = options?.idempotencyKey;
  const quoted = key === undefined ? undefined : JSON.stringify(key);
  return given({ "Idempotency-Key": quoted, traceparent: options?.traceparent });
}

function of(key: Key, options: TimerChangeOptions | undefined) {
  const query = given({ wait: options?.wait });
  return { params: { path: at(key), query, header: matchOf(options) }, ...signalOf(options) };
}

function matchOf(options: Pick<TimerChangeOptions, "ifMatch"> | undefined) {
  return given({ "If-Match": options?.ifMatch });
}

function noteOf(options: { note?: string } | undefined) {
  return options?.note === undefined ? {} : { body: { note: options.note } };
}

function next(key: Key, page_token: string | undefined, options: CallOptions | undefined) {
  return { params: { path: at(key), query: given({ page_token }) }, ...signalOf(options) };
}
