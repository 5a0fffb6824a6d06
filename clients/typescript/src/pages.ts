import { type Answer, take, taken } from "./api.js";
import { NetworkError } from "./errors.js";

/** A page of a list. A page may be empty while more follow. */
export interface Page {
  next_page_token?: string;
}

/** Reads page after page, until there is none or the caller stops. */
export async function* pagesOf<P extends Page>(read: (token?: string) => Promise<Answer<P>>): AsyncGenerator<P> {
  let token: string | undefined;
  do {
    const page = await take(read(token));
    yield page;
    token = page.next_page_token;
  } while (token);
}

/** Reads item after item of all pages. */
export async function* itemsOf<P extends Page, T>(
  read: (token?: string) => Promise<Answer<P>>,
  items: (page: P) => T[],
): AsyncGenerator<T> {
  for await (const page of pagesOf(read)) yield* items(page);
}

/** A call whose answer is read as it comes. */
export interface Flow {
  /** Makes the call. It waits for a reader: a call that fails unread would end the process. */
  call: () => Promise<Answer<unknown>>;
  /** Ends the call, and the reading. */
  signal: AbortSignal | undefined;
}

/** Reads an answer line by line. One that breaks off fails with a {@link NetworkError}. */
export async function* textLinesOf({ call, signal }: Flow): AsyncGenerator<string> {
  const { response } = await taken(call());
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof NetworkError ? error : new NetworkError("Wakecall", true, error);
  }
  if (rest !== "") yield rest;
}

/** Reads an answer of one JSON value a line. */
export async function* linesOf<T>(flow: Flow): AsyncGenerator<T> {
  for await (const line of textLinesOf(flow)) if (line.trim() !== "") yield JSON.parse(line) as T;
}
