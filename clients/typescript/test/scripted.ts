import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { apiOf } from "../src/api.js";
import { type Options, settingsOf } from "../src/options.js";

/** What a scripted server does with one try. */
export interface Scripted {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  /** Breaks the connection off: before an answer, or within it. */
  broken?: "before" | "within";
  /** Answers before the body has come. */
  early?: boolean;
  /** Never answers. */
  silent?: boolean;
  /** Never ends its answer. */
  stalled?: boolean;
}

/** One request as a server got it. */
export interface Got {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** What a server answers: one request after another, the last answer again and again, or each by what it asks. */
export type Script = Scripted[] | ((got: Got) => Scripted);

/** A server that answers as it is told. */
export class ScriptedServer {
  readonly got: Got[] = [];
  url = "";
  #arrived: (() => void)[] = [];

  constructor(readonly script: Script) {}

  async start(t: TestContext): Promise<this> {
    const server = createServer((request, response) => void this.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return this;
  }

  /** Waits for the next request. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrived.push(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const early = Array.isArray(this.script) ? nth(this.script, this.got.length) : undefined;
    if (early?.early) return void response.writeHead(early.status ?? 200, early.headers).end(early.body);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // it broke off, and is none
    }
    const { method = "", url = "", headers } = request;
    const got = { method, url, headers, body: Buffer.concat(chunks).toString() };
    this.got.push(got);
    const answer = Array.isArray(this.script) ? nth(this.script, this.got.length - 1) : this.script(got);
    for (const told of this.#arrived.splice(0)) told();
    if (answer.silent) return;
    if (answer.broken === "before") return void request.socket.destroy();
    const length = answer.broken === "within" ? { "Content-Length": "1000" } : {};
    response.writeHead(answer.status ?? 200, { ...answer.headers, ...length });
    if (answer.stalled) return void response.write(answer.body);
    if (answer.broken !== "within") return void response.end(answer.body ?? "");
    response.write(answer.body ?? "{", () => request.socket.destroy());
  }
}

function nth(answers: Scripted[], n: number): Scripted {
  return answers[Math.min(n, answers.length - 1)] ?? {};
}

/** An address at which nobody listens any more. */
export async function closedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** A client whose pauses are noted and take no time. */
export function hastyApi(options: Options) {
  const pauses: number[] = [];
  const api = apiOf(settingsOf(options), async (ms, signal) => {
    signal.throwIfAborted();
    pauses.push(ms);
  });
  return { api, pauses };
}

/** A problem document as Wakecall writes it. */
export function problem(code: string, more: object = {}): string {
  return JSON.stringify({ type: `urn:wakecall:problem:${code}`, title: "t", detail: "Not now.", ...more });
}
