import { NetworkError } from "./errors.js";

/** How long Wakecall may send and take nothing in a call of any length, in milliseconds. */
export const longestSilence = 60_000;

/** Ends a call in which Wakecall is silent: a process that stands still keeps its connections open. */
export class Patience {
  /** Ends with the caller's signal, and with a {@link NetworkError} after a silence. */
  readonly signal: AbortSignal;
  readonly #where: string;
  readonly #silent = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal, where: string) {
    this.#where = where;
    this.signal = AbortSignal.any([signal, this.#silent.signal]);
  }

  /** A body that is sent. The time of its source does not count. */
  sent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return around(
      body,
      () => this.rest(),
      () => this.wait(),
    );
  }

  /** An answer that is read. The time between two reads does not count. */
  received(response: Response): Response {
    if (response.body === null || response.status === 0) return response;
    const body = around(
      response.body,
      () => this.wait(),
      () => this.rest(),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }

  /** Begins the wait for Wakecall anew. */
  wait(): void {
    this.rest();
    const silence = new Error(`silent for ${longestSilence / 1000} s`);
    this.#timer = setTimeout(() => this.#silent.abort(new NetworkError(this.#where, true, silence)), longestSilence);
    this.#timer.unref(); // the connection keeps the process up
  }

  /** Ends the wait while Wakecall waits for this side. */
  rest(): void {
    clearTimeout(this.#timer);
  }
}

/** A stream that tells of the begin and of the end of each read, and reads nothing ahead. */
function around(
  stream: ReadableStream<Uint8Array>,
  begin: () => void,
  end: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  return new ReadableStream(
    {
      pull: async (controller) => {
        begin();
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value as Uint8Array<ArrayBuffer>);
        } finally {
          end();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
