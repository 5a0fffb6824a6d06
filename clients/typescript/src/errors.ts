import { millisecondsOf, parseRetryAfter } from "./pause.js";
import type { Dispatch, FieldError, ProblemCode, ProblemDocument, Timer } from "./schema.js";

const typePrefix = "urn:wakecall:problem:";

/** What Wakecall answers when it does not do what it was asked for (RFC 9457). */
export class Problem extends Error {
  override readonly name = "Problem";
  /** What kind of problem it is; undefined where somebody else has answered, such as a proxy. */
  readonly code: ProblemCode | undefined;
  readonly status: number;
  readonly detail: string;
  readonly requestId: string | undefined;
  /** Every value that was refused. */
  readonly fieldErrors: readonly FieldError[];
  /** The timer's true state, where that is the reason. */
  readonly timer: Timer | undefined;
  /** The dispatch's true state, where that is the reason. */
  readonly dispatch: Dispatch | undefined;
  /** The limits that were reached. */
  readonly violatedPolicies: readonly string[];
  /** In how many milliseconds it is worth another try; undefined where nothing was said. */
  readonly retryAfter: number | undefined;

  constructor(status: number, document?: Partial<ProblemDocument>, retryAfter?: number) {
    const detail = document?.detail ?? `Wakecall answered ${status} without a problem document`;
    const code = codeOf(document?.type);
    const fields = document?.errors ?? [];
    super(
      [code === undefined ? detail : `${code}: ${detail}`, ...fields.map((f) => `${f.pointer}: ${f.detail}`)].join(" "),
    );
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.requestId = document?.request_id;
    this.fieldErrors = fields;
    this.timer = document?.timer;
    this.dispatch = document?.dispatch;
    this.violatedPolicies = document?.["violated-policies"] ?? [];
    this.retryAfter = retryAfter ?? millisecondsOf(document?.retry_after); // a result of a batch has no headers
  }

  /** Reads the body of an answer, parsed or not. What is no problem document is somebody else's. */
  static of(response: Response, body: unknown): Problem {
    const retryAfter = parseRetryAfter(response.headers.get("Retry-After"), Date.now());
    return new Problem(response.status, isDocument(body) ? body : undefined, retryAfter);
  }
}

function isDocument(body: unknown): body is Partial<ProblemDocument> {
  return typeof body === "object" && body !== null && "detail" in body && typeof body.detail === "string";
}

function codeOf(type: string | undefined): ProblemCode | undefined {
  return type?.startsWith(typePrefix) ? (type.slice(typePrefix.length) as ProblemCode) : undefined;
}

/** Wakecall could not be reached, or its answer was lost. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  /** Whether the call may have taken effect; false where it was never sent. */
  readonly sent: boolean;
  /** Whether the certificate of the server is not trusted, or it speaks no TLS: another call would not help. */
  readonly untrusted: boolean;

  constructor(where: string, sent: boolean, cause: unknown) {
    const untrusted = isUntrusted(cause);
    super(`${where} ${sent && !untrusted ? "gave no whole answer" : "could not be reached"}: ${reasonOf(cause)}`, {
      cause,
    });
    this.sent = sent && !untrusted;
    this.untrusted = untrusted;
  }
}

/** How Node says that it does not trust a certificate, or that there is no TLS. */
const untrusting: ReadonlySet<unknown> = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function isUntrusted(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && untrusting.has(error.code)) || isUntrusted(error.cause);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return code || error.message;
}

/**
 * Whether an error says that Wakecall could not be asked, or that it asks to be called later: the same call
 * may succeed then.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof Problem) return error.status === 429 || error.status >= 500;
  if (error instanceof NetworkError) return !error.untrusted;
  return error instanceof DOMException && error.name === "TimeoutError";
}
