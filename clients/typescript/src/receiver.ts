import type { IncomingMessage, ServerResponse } from "node:http";
import { Refused, type RingHandler, SignatureError, type Verdict, Verifier } from "./ring.js";

/** The ids of rings that were taken. A `Set` is one that forgets when the process ends. */
export interface Taken {
  has(webhookId: string): boolean | Promise<boolean>;
  add(webhookId: string): unknown;
}

/** Says how a receiver answers. */
export interface ReceiverOptions {
  /** The signing secrets of the policy: one, or several while they are rotated. */
  secrets: string | readonly string[];
  /** Takes the rings. */
  ring: RingHandler;
  /**
   * Remembers which rings were taken, so that repetitions are answered without the handler. Those that the handler
   * answered with `accepted` or `last` come to it again.
   */
  taken?: Taken;
  /** Is told of each error that is no {@link Refused}. */
  failed?: (error: unknown) => void;
}

/** Above the largest payload. */
const maxBody = 2 ** 20;

/** The header that ends a recurring timer. */
const stop = "Wakecall-Stop";

/** What a receiver answers. */
interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A listener for a server of `node:http` that verifies rings and answers them. */
export function receiver(
  options: ReceiverOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const answer = answering(options);
  return async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined);
    if (body === undefined) return void request.destroy();
    const { status, headers, text } = await answer(request.headers, body);
    response.writeHead(status, headers).end(text);
  };
}

/** The same for servers that have requests and responses as `fetch` has them. */
export function fetchReceiver(options: ReceiverOptions): (request: Request) => Promise<Response> {
  const answer = answering(options);
  return async (request) => {
    const { status, headers, text } = await answer(request.headers, await boundedOf(request));
    return new Response(text, { status, headers });
  };
}

type Answering = (headers: Headers | IncomingMessage["headers"], body: Uint8Array | "large") => Promise<Reply>;

function answering(options: ReceiverOptions): Answering {
  const verifier = new Verifier(options.secrets);
  return async (headers, body) => {
    if (body === "large") return replyOf(413, "the body is too large");
    try {
      const ring = verifier.verify(headers, body);
      if (await options.taken?.has(ring.webhookId)) return replyOf(200);
      const verdict = await options.ring(ring);
      if (isTaken(verdict)) await options.taken?.add(ring.webhookId);
      return replyTo(verdict);
    } catch (error) {
      return refusalOf(error, options.failed);
    }
  };
}

/**
 * Whether a repetition needs no handler. What was only accepted may come again because it failed or was never
 * acknowledged, and an end of the recurring timer must be said again.
 */
function isTaken(verdict: Verdict): boolean {
  return verdict !== "accepted" && verdict !== "last";
}

function replyOf(status: number, text = "", headers: Record<string, string> = {}): Reply {
  return { status, headers, text };
}

function replyTo(verdict: Verdict): Reply {
  if (verdict === "accepted") return replyOf(202);
  return replyOf(200, "", verdict === "last" ? { [stop]: "true" } : {});
}

/** An error that is no word for Wakecall stays here. */
function refusalOf(error: unknown, failed: ReceiverOptions["failed"]): Reply {
  if (error instanceof SignatureError) return replyOf(401, error.message);
  if (!(error instanceof Refused)) {
    failed?.(error);
    return replyOf(500, "the receiver failed");
  }
  const last: Record<string, string> = error.last ? { [stop]: "true" } : {};
  if (error.final) return replyOf(422, error.message, { "Wakecall-No-Retry": "true", ...last });
  if (error.retryAfter === undefined) return replyOf(500, error.message, last);
  return replyOf(503, error.message, { "Retry-After": String(Math.ceil(error.retryAfter / 1000)), ...last });
}

function boundedOf(request: Request): Promise<Uint8Array | "large"> {
  return request.body === null ? Promise.resolve(new Uint8Array()) : gather(request.body);
}

function bodyOf(request: IncomingMessage): Promise<Uint8Array | "large"> {
  return gather(request);
}

async function gather(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array | "large"> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBody) return "large";
    all.push(chunk);
  }
  return Buffer.concat(all);
}
