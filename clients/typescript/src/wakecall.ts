import { type Api, apiOf } from "./api.js";
import { Dispatches } from "./dispatches.js";
import { Bulk } from "./jobs.js";
import { type Options, settingsOf } from "./options.js";
import { Access, Deliveries, Emergencies, Recurrences, Server } from "./others.js";
import { sleep } from "./pause.js";
import { Policies } from "./policies.js";
import { pollSettings, Streams } from "./streams.js";
import { Timers } from "./timers.js";

/** Calls one Wakecall. Nothing is called before its first call. */
export class Wakecall {
  readonly timers: Timers;
  readonly policies: Policies;
  readonly dispatches: Dispatches;
  readonly bulk: Bulk;
  readonly emergency: Emergencies;
  readonly deliveries: Deliveries;
  readonly recurrences: Recurrences;
  readonly streams: Streams;
  readonly access: Access;
  readonly server: Server;
  /**
   * Every operation of the OpenAPI document by its path, as openapi-fetch has it: repeated as the others, but what is
   * refused is answered as `error` and not thrown.
   */
  readonly api: Api;

  constructor(options: Options) {
    const settings = settingsOf(options);
    this.api = apiOf(settings);
    this.timers = new Timers(this.api);
    this.policies = new Policies(this.api);
    this.dispatches = new Dispatches(this.api, { tries: settings.tries, sleep });
    this.bulk = new Bulk(this.api);
    this.emergency = new Emergencies(this.api);
    this.deliveries = new Deliveries(this.api);
    this.recurrences = new Recurrences(this.api);
    this.access = new Access(this.api);
    this.server = new Server(this.api);
    const polls = pollSettings(settings);
    this.streams = new Streams(apiOf(polls), polls.timeout);
  }
}
