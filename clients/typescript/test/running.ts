import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ReceiverOptions, type Ring, receiver } from "../src/index.js";
import { closedUrl } from "./scripted.js";

const binary = process.env.WAKECALL_STANDALONE_BIN ?? resolve("../../bin/wakecall-standalone");

/** A standalone Wakecall of its own, with its data in a new directory. */
export class Running {
  readonly #dir = mkdtempSync(join(tmpdir(), "wakecall-"));
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;

  private constructor(
    readonly url: string,
    env: NodeJS.ProcessEnv,
  ) {
    this.#env = env;
  }

  static async start(more: NodeJS.ProcessEnv = {}): Promise<Running> {
    const [http, temporal, ui] = await Promise.all([closedUrl(), closedUrl(), closedUrl()]);
    const addr = (url: string) => url.slice("http://".length);
    const running = new Running(http, {
      WAKECALL_HTTP_ADDR: addr(http),
      WAKECALL_TEMPORAL_ADDR: addr(temporal),
      WAKECALL_UI_ADDR: addr(ui),
      ...more,
    });
    await running.up();
    return running;
  }

  /** Starts the process, and waits until it is ready. */
  async up(): Promise<void> {
    const settings = { WAKECALL_DATA_DIR: this.#dir, WAKECALL_LOG_LEVEL: "error", ...this.#env };
    const started = spawn(binary, {
      env: { PATH: process.env.PATH, ...settings },
      stdio: ["ignore", "ignore", "inherit"],
    });
    this.#process = started;
    const ended = new Promise<never>((_, reject) => {
      started.once("error", reject);
      started.once("exit", (code) => reject(new Error(`${binary} has ended with ${code}`)));
    });
    ended.catch(() => {});
    const ready = () => fetch(`${this.url}/readyz`).then((r) => r.ok || undefined);
    await Promise.race([ended, eventually(ready, () => started.exitCode === null)]);
  }

  /** Kills the process; its data stays. */
  async kill(): Promise<void> {
    const process = this.#process;
    if (process === undefined || process.exitCode !== null) return;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGKILL");
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/**
 * Asks again and again, until there is an answer. A failure is none. It gives up after two minutes, or
 * when `worthwhile` says so: a loop that goes on after its test has failed keeps Node from ending.
 */
export async function eventually<T>(ask: () => Promise<T | undefined>, worthwhile = () => true): Promise<T> {
  for (const end = Date.now() + 120_000; Date.now() < end && worthwhile(); ) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`still no answer: ${ask}`);
}

/** A receiver of rings on a port of its own, which remembers them. */
export class Receiver {
  readonly rings: Ring[] = [];
  readonly #server: Server;
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    const ring = async (r: Ring) => {
      this.rings.push(r);
      return this.#options.ring(r);
    };
    this.#server = createServer(receiver({ ...options, ring }));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Waits for the nth ring of a timer. */
  async await(id: string, nth = 1): Promise<Ring> {
    return eventually(async () => this.rings.filter((ring) => ring.businessId === id)[nth - 1]);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
