import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { createServer as createHTTP } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

const binary = process.env.WAKECALL_STANDALONE_BIN ?? resolve("../../bin/wakecall-standalone");

const freePort = () =>
  new Promise((found) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });

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
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`still no answer: ${ask}`, { cause: last });
}

/** A standalone Wakecall of its own, with its data in a new directory, and a receiver. */
export class Running {
  #dir = mkdtempSync(join(tmpdir(), "wakecall-"));
  #env;
  #process;
  #receiver;
  /** What the receiver answers with. */
  status = 200;

  static async start() {
    const running = new Running();
    const [http, temporal, ui] = await Promise.all([freePort(), freePort(), freePort()]);
    running.url = `http://127.0.0.1:${http}`;
    running.#env = {
      PATH: process.env.PATH,
      WAKECALL_HTTP_ADDR: `127.0.0.1:${http}`,
      WAKECALL_TEMPORAL_ADDR: `127.0.0.1:${temporal}`,
      WAKECALL_UI_ADDR: `127.0.0.1:${ui}`,
      WAKECALL_DATA_DIR: running.#dir,
      WAKECALL_LOG_LEVEL: "error",
    };
    running.#receiver = createHTTP((_, answer) => answer.writeHead(running.status).end());
    await new Promise((listening) => running.#receiver.listen(0, "127.0.0.1", listening));
    running.callback = `http://127.0.0.1:${running.#receiver.address().port}/`;
    await running.up();
    return running;
  }

  async up() {
    this.#process = spawn(binary, { env: this.#env, stdio: ["ignore", "ignore", "inherit"] });
    await eventually(async () => (await fetch(`${this.url}/readyz`)).ok);
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

  /** Calls the API, and returns what it answers. */
  async call(method, path, body) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  }

  policy(type, more = {}) {
    return this.call("PUT", `/v1/policies/${type}`, { callback: { url: this.callback }, ...more });
  }

  book(type, id, delay, more = {}) {
    return this.call("POST", "/v1/timers", { business_type: type, business_id: id, delay, ...more });
  }
}

/** A browser, whose pages note what they should not do: errors, breaches of the policy, requests elsewhere. */
export class Browser {
  wrong = [];

  static async start(running) {
    const browser = new Browser();
    browser.running = running;
    browser.chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox"],
    });
    return browser;
  }

  async open(path, options = {}) {
    const context = await this.chromium.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.requests = [];
    page.on("console", (message) => message.type() === "error" && this.wrong.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => this.wrong.push(`error: ${error}`));
    page.on("request", (request) => {
      page.requests.push(request.url());
      if (!request.url().startsWith(this.running.url) && !request.url().startsWith("data:"))
        this.wrong.push(`elsewhere: ${request.url()}`);
    });
    await page.goto(this.running.url + path);
    return page;
  }

  close() {
    return this.chromium.close();
  }
}

/** What the tests of a file share, from before the first to after the last: a timer due in an hour, and one that recurs. */
export function scene() {
  const shared = {};
  before(async () => {
    shared.running = await Running.start();
    shared.browser = await Browser.start(shared.running);
    await shared.running.policy("order-close");
    await shared.running.book("order-close", "o-0", "1h");
    await shared.running.book("order-close", "o-every", undefined, { recurrence: { every: "24h" } });
  });
  after(async () => {
    await shared.browser?.close();
    await shared.running?.remove();
  });
  return shared;
}
