import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHTTP } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const binary = process.env.WAKECALL_STANDALONE_BIN ?? resolve("../../bin/wakecall-standalone");

/** Whether tests run as long as they do at night, and not as short as in the gate. */
export const long = process.env.WAKECALL_FAULT === "long";

/**
 * A free port for a server that is killed and comes back. It is below those from which connections go out:
 * a browser could take one of these while the server is down.
 */
const freePort = () =>
  new Promise((found) => {
    const port = 16_384 + Math.floor(Math.random() * 16_000);
    const server = createServer();
    server.on("error", () => found(freePort()));
    server.listen(port, "127.0.0.1", () => server.close(() => found(port)));
  });

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Asks again and again, until there is an answer; a failure is none. */
export async function eventually(ask, within = 60_000) {
  let last;
  for (const end = Date.now() + within; Date.now() < end; ) {
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      last = error;
    }
    await pause();
  }
  throw new Error(`still no answer: ${ask}`, { cause: last });
}

/** The policy of tests: one attempt, and a second link. */
export const policyOf = (running, more = {}) => ({
  callback: { url: running.callback },
  fallback: { url: `${running.callback}second` },
  retry: { initial: "1s", max_attempts: 1 },
  ...more,
});

/** A standalone Wakecall of its own, with its data in a new directory, and a receiver. */
export class Running {
  #dir = mkdtempSync(join(tmpdir(), "wakecall-"));
  #env;
  #process;
  #receiver;
  /** What the receiver answers with, and the webhook ids that it was called with. */
  status = 200;
  called = [];

  /** Starts one. With a key, only who has it is let in. */
  static async start({ key, ...more } = {}) {
    const running = new Running();
    const [http, temporal, ui] = await Promise.all([freePort(), freePort(), freePort()]);
    running.url = `http://127.0.0.1:${http}`;
    running.key = key;
    running.#env = {
      PATH: process.env.PATH,
      WAKECALL_HTTP_ADDR: `127.0.0.1:${http}`,
      WAKECALL_TEMPORAL_ADDR: `127.0.0.1:${temporal}`,
      WAKECALL_UI_ADDR: `127.0.0.1:${ui}`,
      WAKECALL_DATA_DIR: running.#dir,
      WAKECALL_LOG_LEVEL: "error",
      ...more,
    };
    if (key) running.#env.WAKECALL_API_KEYS = `anna:${createHash("sha256").update(key).digest("hex")}`;
    running.#receiver = createHTTP((request, answer) => {
      running.called.push(request.headers["webhook-id"]);
      answer.writeHead(running.status).end();
    });
    await new Promise((listening) => running.#receiver.listen(0, "127.0.0.1", listening));
    running.callback = `http://127.0.0.1:${running.#receiver.address().port}/`;
    await running.up();
    return running;
  }

  async up() {
    this.#process = spawn(binary, { env: this.#env, stdio: ["ignore", "ignore", "inherit"] });
    await eventually(async () => (await fetch(`${this.url}/readyz`)).ok);
  }

  /** Has the process stand still: it accepts connections, and answers nothing. */
  freeze() {
    this.#process.kill("SIGSTOP");
  }

  thaw() {
    this.#process.kill("SIGCONT");
  }

  async kill() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
  }

  async remove() {
    await this.kill();
    this.#receiver.closeAllConnections();
    this.#receiver.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Calls the API, and returns what it answers. A call whose outcome is unknown is made again, as clients do. */
  async call(method, path, body) {
    const headers = { "Content-Type": "application/json" };
    if (this.key) headers.Authorization = `Bearer ${this.key}`;
    const send = () => fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    let answer = await send();
    let again = false;
    for (const end = Date.now() + 60_000; answer.status === 503 && Date.now() < end; again = true) {
      await pause();
      answer = await send();
    }
    const text = await answer.text();
    if (again && answer.status === 409 && text.includes("already-finished")) return JSON.parse(text).timer;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }

  policy(type, more = {}) {
    return this.call("PUT", `/v1/policies/${type}`, policyOf(this, more));
  }

  book(type, id, delay, more = {}) {
    return this.call("POST", "/v1/timers", { business_type: type, business_id: id, delay, ...more });
  }

  /** Books many timers of a type, which are due in a day. */
  async bookMany(type, count) {
    const all = Array.from({ length: count }, (_, n) => ({ business_type: type, business_id: `n-${n}`, delay: "24h" }));
    for (let from = 0; from < count; from += 500) await this.call("POST", "/v1/timers/batch", { timers: all.slice(from, from + 500) });
    await this.listed(type, "scheduled", count);
  }

  /** Books timers that fail at once, and waits until lists have them. */
  async fail(type, ...ids) {
    this.status = 503;
    for (const id of ids) await this.book(type, id, "0s");
    this.failedAt = new Date();
    await this.listed(type, "failed", ids.length);
  }

  /** Waits until a count has at least so many timers of a type in a status. */
  listed(type, status, count) {
    return eventually(async () => (await this.count(type, status)) >= count);
  }

  async count(type, status) {
    const { timers } = await this.call("GET", `/v1/stats?business_type=${type}`);
    return timers[status];
  }

  timer(type, id) {
    return this.call("GET", `/v1/timers/${type}/${id}`);
  }
}
