/** Says how to reach Wakecall. */
export interface Options {
  /** Where the API is: `https://wakecall.example`. */
  url: string;
  /** An API key. It is sent as a bearer token, and stands in no error. */
  key?: string;
  /** The longest time of one try in milliseconds; {@link defaultTimeout} where it is left out. */
  timeout?: number;
  /** How often a call is made at most, the first time included; {@link defaultTries} where it is left out. */
  tries?: number;
  /** Makes the calls; that of the platform where it is left out. */
  fetch?: typeof globalThis.fetch;
}

/** Above the longest answer, a wait of 30 seconds for an effect. */
export const defaultTimeout = 60_000;
/** Spread over about three seconds. */
export const defaultTries = 5;

/** Options without anything left out. */
export type Settings = Required<Omit<Options, "key">> & { key: string | undefined };

/** Checks options. What it throws shows neither a key nor a URL: both may hold secrets. */
export function settingsOf(options: Options): Settings {
  const { timeout = defaultTimeout, tries = defaultTries, fetch = globalThis.fetch, key } = options;
  if (!Number.isSafeInteger(tries) || tries < 1) throw new RangeError("tries must be a whole number from 1");
  if (!(timeout > 0)) throw new RangeError("timeout must be a number of milliseconds above 0");
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) throw new TypeError("key must be visible ASCII characters");
  return { url: baseOf(options.url), key, timeout, tries, fetch };
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") throw new TypeError("url must be one of http or https");
  if (url.username !== "" || url.password !== "") throw new TypeError("url must not have a user: say key instead");
  if (url.search !== "" || url.hash !== "") throw new TypeError("url must not have a query or a fragment");
  return url.href.replace(/\/+$/, "");
}
