import { randomUUID } from "node:crypto";
import { type Api, type CallOptions, given, signalOf, take, taken } from "./api.js";
import { itemsOf, linesOf } from "./pages.js";
import type { BulkJob, BulkLine, BulkOrder } from "./schema.js";

/** Does the same with all timers that a filter finds, as a job. */
export class Bulk {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /**
   * Orders a job. An id is made up where it is left out, so that the tries of one call are one job. `created` is
   * false where the same order was given under the same id before.
   */
  async start(order: BulkOrder, options?: CallOptions): Promise<{ job: BulkJob; created: boolean }> {
    const body = { id: randomUUID(), ...order };
    const { data, response } = await taken(this.#api.POST("/v1/bulk", { body, ...signalOf(options) }));
    return { job: data, created: response.status === 202 };
  }

  /** Returns a job as it stands. */
  get(id: string, options?: CallOptions): Promise<BulkJob> {
    return take(this.#api.GET("/v1/bulk/{id}", { params: { path: { id } }, ...signalOf(options) }));
  }

  /** Stops a job. It may go on for a moment: see its status. */
  stop(id: string, options?: CallOptions): Promise<BulkJob> {
    return take(this.#api.DELETE("/v1/bulk/{id}", { params: { path: { id } }, ...signalOf(options) }));
  }

  /** Lists jobs, those that run first and then the latest. */
  list(filter: { status?: BulkJob["status"] } = {}, options?: CallOptions): AsyncGenerator<BulkJob> {
    const read = (page_token?: string) =>
      this.#api.GET("/v1/bulk", { params: { query: { ...filter, ...given({ page_token }) } }, ...signalOf(options) });
    return itemsOf(read, (page) => page.jobs);
  }

  /** Reads what became of each timer that the job has been at. */
  results(id: string, options?: CallOptions): AsyncGenerator<BulkLine> {
    const params = { path: { id } };
    const init = { params, parseAs: "stream", ...signalOf(options) } as const;
    return linesOf({ call: () => this.#api.GET("/v1/bulk/{id}/results", init), signal: options?.signal });
  }
}
