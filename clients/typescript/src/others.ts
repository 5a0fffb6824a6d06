import {
  type Api,
  type CallOptions,
  type Changed,
  type ChangeOptions,
  changed,
  given,
  type Query,
  signalOf,
  take,
} from "./api.js";
import type { components } from "./openapi.js";
import type { Emergency, EmergencyOrder, Held, Recurrence, Upcoming } from "./schema.js";

/** Pauses callbacks at once, for some business types or for all. Each call may be repeated. */
export class Emergencies {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Holds callbacks back, within 10 seconds, and returns what of the order is paused. */
  async pause(order: EmergencyOrder, options?: CallOptions): Promise<Emergency[]> {
    return (await take(this.#api.POST("/v1/emergency/pause", { body: order, ...signalOf(options) }))).paused;
  }

  /** Lets callbacks go on, within 10 seconds, and returns what holds all the same. */
  resume(order: EmergencyOrder, options?: CallOptions): Promise<Held> {
    return take(this.#api.POST("/v1/emergency/resume", { body: order, ...signalOf(options) }));
  }

  /** Lists what is paused. */
  async list(options?: CallOptions): Promise<Emergency[]> {
    return (await take(this.#api.GET("/v1/emergency", signalOf(options)))).paused;
  }
}

/** A delivery that its receiver accepted with 202. A ring is one. */
export interface Delivery {
  webhookId: string;
  /** Stands in place of an API key; left out where the client has one. */
  ackToken?: string | undefined;
}

/** Says later what became of deliveries that their receiver accepted with 202. */
export class Deliveries {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Says that a delivery is done. */
  ack(delivery: Delivery, options?: ChangeOptions): Promise<Changed> {
    return changed(this.#api.POST("/v1/deliveries/{webhook_id}/ack", of(delivery, options)));
  }

  /** Says that a delivery failed after all: the ladder goes on. */
  nack(delivery: Delivery, failure: components["schemas"]["Nack"] = {}, options?: ChangeOptions): Promise<Changed> {
    return changed(this.#api.POST("/v1/deliveries/{webhook_id}/nack", { body: failure, ...of(delivery, options) }));
  }
}

function of(delivery: Delivery, options: ChangeOptions | undefined) {
  const header = given({ "Wakecall-Ack-Token": delivery.ackToken });
  const path = { webhook_id: delivery.webhookId };
  return { params: { path, header, query: given({ wait: options?.wait }) }, ...signalOf(options) };
}

/** Tries rules of recurring timers. */
export class Recurrences {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Returns the next times of a rule, from a moment on, or why there is none. */
  preview(recurrence: Recurrence, options?: CallOptions & { from?: string; count?: number }): Promise<Upcoming> {
    const body = { recurrence, ...given({ from: options?.from, count: options?.count }) };
    return take(this.#api.POST("/v1/recurrences/preview", { body, ...signalOf(options) }));
  }
}

/** Tells of the installation. */
export class Server {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Lists the gateways and workers that give signs of life, the gravest first. It takes a role for all business types. */
  processes(options?: CallOptions): Promise<components["schemas"]["ProcessList"]> {
    return take(this.#api.GET("/v1/processes", signalOf(options)));
  }
}

/** Tells who calls, and which keys there are. */
export class Access {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Tells who this client is to Wakecall. */
  whoami(options?: CallOptions): Promise<components["schemas"]["Principal"]> {
    return take(this.#api.GET("/v1/whoami", signalOf(options)));
  }

  /** Lists the API keys, without the keys. It is for admins of everything. */
  async keys(options?: CallOptions): Promise<components["schemas"]["KeyList"]["keys"]> {
    return (await take(this.#api.GET("/v1/keys", signalOf(options)))).keys;
  }

  /** Lists who did what, the newest first, as far as the gateway that answers knows. It takes an admin. */
  audit(filter: Query<"/v1/audit"> = {}, options?: CallOptions): Promise<components["schemas"]["AuditPage"]> {
    return take(this.#api.GET("/v1/audit", { params: { query: filter }, ...signalOf(options) }));
  }
}
