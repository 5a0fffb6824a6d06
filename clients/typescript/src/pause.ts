/** The time before the second try; each next one is twice as long. */
export const firstPause = 200;
/** Bounds what an answer may ask for. */
export const longestPause = 30_000;

/**
 * The time between a try and the next one: what the answer asks for, or else a time that doubles with each
 * try, less up to a half of it at random. Receivers that fail together do not come back together.
 */
export function pauseAfter(tries: number, asked: number | undefined): number {
  if (asked !== undefined && asked > 0) return Math.min(asked, longestPause);
  const grown = Math.min(firstPause * 2 ** (tries - 1), longestPause);
  return grown - Math.random() * (grown / 2);
}

/** Reads a Retry-After header, in seconds or as a date, as milliseconds. Anything else is undefined. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000;
  // A date begins with its weekday; Date.parse would take much else for one.
  const date = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0);
}

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** Reads a wait of whole seconds, such as 1m30s, as milliseconds. Without one it is undefined. */
export function millisecondsOf(wait: string | undefined): number | undefined {
  if (wait === undefined) return undefined;
  const parts = wait.matchAll(/(\d+)([hms])/g);
  return [...parts].reduce((sum, [, n, unit]) => sum + Number(n) * (unitMs[unit ?? ""] ?? 0), 0);
}

/** Waits, unless the signal ends it. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(wait);
      reject(signal.reason);
    };
    const wait = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
