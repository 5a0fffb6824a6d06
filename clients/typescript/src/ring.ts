import { createHmac, timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";

/** What Wakecall calls a receiver with. The signature covers `webhookId` and `body`, and no other header. */
export interface Ring {
  /** The same for every attempt and redelivery: use it to drop repetitions. */
  webhookId: string;
  businessType: string;
  businessId: string;
  /** The due time as it was booked, however late the attempt is. */
  dueAt: string;
  /** The number of this attempt, from 1. */
  attempt: number;
  /** The number of the occurrence of a recurring timer, from 1. */
  occurrence: number | undefined;
  /** Lets the receiver say later what became of a ring that it accepted. Keep it secret. */
  ackToken: string | undefined;
  headers: Headers;
  /** The payload, byte for byte. */
  body: Uint8Array;
  text(): string;
  json(): unknown;
}

/**
 * Takes a ring. Nothing returned is a delivery; `accepted` says that the word comes later, and `last` ends a
 * recurring timer. A {@link Refused} or another error is a failed attempt.
 */
export type RingHandler = (ring: Ring) => Verdict | Promise<Verdict>;

/** What a receiver says of a ring that it has taken. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing has taken the ring
export type Verdict = void | undefined | "accepted" | "last";

/** A ring that a receiver does not take. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** Whether the timer fails for good. */
  readonly final: boolean;
  /** How many milliseconds the timer shall wait at least before it comes again, up to an hour. */
  readonly retryAfter: number | undefined;
  /** Whether a recurring timer ends with the delivery that ends so. */
  readonly last: boolean;

  constructor(reason: string, options: { final?: boolean; retryAfter?: number; last?: boolean } = {}) {
    super(reason);
    this.final = options.final ?? false;
    this.retryAfter = waitOf(options.retryAfter);
    this.last = options.last ?? false;
  }
}

/** The longest wait that a receiver may ask for, in milliseconds. */
const longestWait = 3_600_000;

/** The wait that a receiver asks for, as far as Wakecall takes it. */
function waitOf(asked = 0): number | undefined {
  const wait = Math.round(Math.min(asked, longestWait));
  return wait > 0 ? wait : undefined;
}

/** A call whose signature is not Wakecall's. */
export class SignatureError extends Error {
  override readonly name = "SignatureError";
}

/** Headers in whatever form a server has them. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

/** Verifies rings by the signing secrets of a policy: one, or several while they are rotated. */
export class Verifier {
  readonly #keys: { library: Webhook; bytes: Buffer }[];

  constructor(secrets: string | readonly string[]) {
    this.#keys = [secrets].flat().map(keyOf);
    if (this.#keys.length === 0) throw new TypeError("a verifier needs a secret");
  }

  /** Returns the ring, or throws a {@link SignatureError}. The body must be the bytes as they came. */
  verify(headers: HeadersLike, body: Uint8Array): Ring {
    const all = headersOf(headers);
    const named = Object.fromEntries(all);
    if (!this.#keys.some((key) => isSigned(key, named, body))) throw new SignatureError("the signature is wrong");
    return ringOf(all, body);
  }
}

/** More than the library asks for, which leaves out what is no base64. */
const secretForm = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/;

function keyOf(secret: string) {
  try {
    if (!secretForm.test(secret)) throw new TypeError();
    const library = new Webhook(secret);
    return { library, bytes: Buffer.from(secret.replace(/^whsec_/, ""), "base64") };
  } catch {
    throw new TypeError("a secret must be whsec_ and base64"); // without the secret
  }
}

function headersOf(headers: HeadersLike): Headers {
  if (headers instanceof Headers) return headers;
  const all = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) all.set(name, [value].flat().join(", "));
  return all;
}

function isSigned(
  key: { library: Webhook; bytes: Buffer },
  headers: Record<string, string>,
  body: Uint8Array,
): boolean {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return isSignedByHand(key.bytes, headers, body);
  }
  try {
    key.library.verify(text, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

/** The tolerance of the library, in seconds. */
const tolerance = 300;

/** Verifies a body that is no text, which the library cannot. */
function isSignedByHand(key: Buffer, headers: Record<string, string>, body: Uint8Array): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !timestamp || !signatures || !(Math.abs(Date.now() / 1000 - Number(timestamp)) <= tolerance)) return false;
  const want = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return signature.startsWith("v1,") && given.length === want.length && timingSafeEqual(given, want);
  });
}

/** The ring that headers and a body tell of. */
export function ringOf(headers: Headers, body: Uint8Array): Ring {
  const text = (name: string) => headers.get(name) ?? "";
  const occurrence = headers.get("Wakecall-Occurrence");
  return {
    webhookId: text("webhook-id"),
    businessType: text("Wakecall-Business-Type"),
    businessId: text("Wakecall-Business-Id"),
    dueAt: text("Wakecall-Due-At"),
    attempt: Number(text("Wakecall-Attempt")),
    occurrence: occurrence === null ? undefined : Number(occurrence),
    ackToken: headers.get("Wakecall-Ack-Token") ?? undefined,
    headers,
    body,
    text: () => new TextDecoder().decode(body),
    json: () => JSON.parse(new TextDecoder().decode(body)),
  };
}
