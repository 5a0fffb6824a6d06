import { type Api, type CallOptions, given, signalOf, take } from "./api.js";
import type { components } from "./openapi.js";
import type { NewPolicy, Policy, PolicyPatch } from "./schema.js";

/** On which version of a policy a change is made. Such a change is not repeated when its answer is lost. */
export interface PolicyMatch extends CallOptions {
  /** The version that must be stored: 412 otherwise. */
  version?: number;
}

/** What putting a policy would change. */
export type Planned = components["schemas"]["PlannedPolicy"];

/** Says how business types are called back. */
export class Policies {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Returns the policy of a business type. What is secret is masked. */
  get(type: string, options?: CallOptions): Promise<Policy> {
    return take(this.#api.GET("/v1/policies/{type}", { params: { path: { type } }, ...signalOf(options) }));
  }

  /** Lists policies: all, or those that hold their type back. */
  async list(filter: { paused?: true; back_pressure?: true } = {}, options?: CallOptions): Promise<Policy[]> {
    return (await take(this.#api.GET("/v1/policies", { params: { query: filter }, ...signalOf(options) }))).policies;
  }

  /** Puts a policy whole. With `none` there must be none yet. */
  put(type: string, policy: NewPolicy, options?: PolicyMatch & { none?: true }): Promise<Policy> {
    const header = { ...matchOf(options), ...(options?.none ? { "If-None-Match": "*" as const } : {}) };
    const params = { path: { type }, header };
    return take(
      this.#api.PUT("/v1/policies/{type}", { body: policy, params, ...signalOf(options) }),
    ) as Promise<Policy>;
  }

  /** Edits a policy in part, by a JSON merge patch. */
  patch(type: string, patch: PolicyPatch, options?: PolicyMatch): Promise<Policy> {
    const params = { path: { type }, header: matchOf(options) };
    const call = this.#api.PATCH("/v1/policies/{type}", { body: patch, params, ...signalOf(options) });
    return take(call) as Promise<Policy>;
  }

  /** Says what putting a policy would change, and changes nothing. */
  plan(type: string, policy: NewPolicy, options?: CallOptions): Promise<Planned> {
    const params = { path: { type }, query: { dry_run: true } };
    return take(
      this.#api.PUT("/v1/policies/{type}", { body: policy, params, ...signalOf(options) }),
    ) as Promise<Planned>;
  }

  /** Deletes a policy. With open timers it is refused, unless it says what becomes of them. */
  async delete(type: string, options?: PolicyMatch & { timers?: "cancel" | "keep" }): Promise<void> {
    const params = { path: { type }, header: matchOf(options), query: given({ timers: options?.timers }) };
    await take(this.#api.DELETE("/v1/policies/{type}", { params, ...signalOf(options) }));
  }

  /** Lists who changed what of a policy and when, newest first. */
  async versions(type: string, options?: CallOptions): Promise<components["schemas"]["PolicyVersions"]["versions"]> {
    const params = { path: { type } };
    return (await take(this.#api.GET("/v1/policies/{type}/versions", { params, ...signalOf(options) }))).versions;
  }

  /** Lifts the back-pressure of a business type. */
  async liftBackPressure(type: string, options?: CallOptions): Promise<void> {
    const params = { path: { type } };
    await take(this.#api.DELETE("/v1/policies/{type}/back_pressure", { params, ...signalOf(options) }));
  }

  /** Sends one test event to a receiver, and returns the result. A receiver at fault is no error. */
  async test(
    type: string,
    link: "callback" | "fallback" = "callback",
    options?: CallOptions,
  ): Promise<components["schemas"]["TestResult"]> {
    const params = { path: { type }, query: { link } };
    return take(this.#api.POST("/v1/policies/{type}/test", { params, ...signalOf(options) }));
  }
}

function matchOf(options: PolicyMatch | undefined) {
  return given({ "If-Match": options?.version === undefined ? undefined : `"${options.version}"` });
}
