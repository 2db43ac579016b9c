import type { EvaluationSettings, OnUnavailable } from './types.js';

const DEFAULT_TIMEOUT_MS = 5_000;
const DEFAULT_BATCH_WINDOW_MS = 1;
const DEFAULT_MAX_BATCH = 32;
/** Limit of the service for one message. */
const MAX_MAX_BATCH = 1_000;
const DEFAULT_MAX_IN_FLIGHT = 1_024;
/** Limit of timers. */
const MAX_MS = 2 ** 31 - 1;

/** `version-traceid-parentid-flags` of W3C Trace Context, without ids of zeros. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/** The settings of a client with their defaults. Throws a TypeError or RangeError that names the invalid one. */
export function readSettings(options: EvaluationSettings) {
  const { maxBatch = DEFAULT_MAX_BATCH, maxInFlight = DEFAULT_MAX_IN_FLIGHT } = options;
  return {
    timeoutMs: milliseconds('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1),
    onUnavailable: decision(options.onUnavailable ?? 'deny'),
    batchWindowMs: milliseconds('batchWindowMs', options.batchWindowMs ?? DEFAULT_BATCH_WINDOW_MS, 0),
    maxBatch: whole('maxBatch', maxBatch, MAX_MAX_BATCH),
    maxInFlight: whole('maxInFlight', maxInFlight, Number.MAX_SAFE_INTEGER),
  };
}

export function milliseconds(name: string, value: number, least: number): number {
  if (value >= least && value <= MAX_MS) return value;
  throw new RangeError(`${name} must be from ${least} to ${MAX_MS}`);
}

export function whole(name: string, value: number, most: number, least = 1): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from ${least} to ${most}`);
}

export function decision(value: OnUnavailable): OnUnavailable {
  if (value === 'deny' || value === 'allow') return value;
  throw new TypeError('onUnavailable must be "deny" or "allow"');
}

export function revision(value: number | bigint): bigint {
  if (
    (typeof value === 'bigint' || Number.isSafeInteger(value)) &&
    value >= 0 &&
    value <= Number.MAX_SAFE_INTEGER
  ) {
    return BigInt(value);
  }
  throw new RangeError('a revision must be a whole number from 0 to 2^53 - 1');
}

/** Throws a TypeError for a text that the service would refuse. */
export function checkedTraceparent(value: string): string {
  if (TRACEPARENT.test(value)) return value;
  throw new TypeError(
    'traceparent must be as in W3C Trace Context, for example 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  );
}

/**
 * The address of a service. Throws a TypeError with the remedy when it does not begin with http:// or
 * https://, is not a URL, or has more than a host and a port.
 */
export function checkedBaseUrl(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string' || !/^https?:\/\//i.test(baseUrl)) {
    const given = typeof baseUrl === 'string' && baseUrl !== '' ? `, not ${quoted(baseUrl)}` : '';
    throw new TypeError(
      `baseUrl must begin with http:// or https://${given}; for example http://localhost:8000`,
    );
  }
  if (!URL.canParse(baseUrl)) throw new TypeError(`baseUrl is not a URL: ${quoted(baseUrl)}`);
  const { origin, pathname, search, hash, username, password } = new URL(baseUrl);
  if (username !== '' || password !== '') {
    throw new TypeError(`baseUrl must have no user name or password: use ${origin}, and apiKey`);
  }
  if (pathname !== '/' || search !== '' || hash !== '') {
    throw new TypeError(`baseUrl must have no path: use ${origin} instead of ${quoted(baseUrl)}`);
  }
  return origin;
}

/** A text in quotes. The part before an @ may be a password. */
function quoted(text: string): string {
  return JSON.stringify(text.replace(/^.*@/s, '…@'));
}

/**
 * Throws a TypeError for an option that does not exist: a misspelled one would have no effect without a word. Names the
 * one that was probably meant.
 */
export function checkOptionNames(of: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => isClose(one.toLowerCase(), name.toLowerCase()));
    const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`;
    throw new TypeError(`${of}: the option "${name}" does not exist; ${hint}`);
  }
}

/** Whether two names differ in at most two letters that are added, left out or replaced. */
function isClose(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 2) return false;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= right.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (left[at - 1] === right[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return (row[right.length] ?? 0) <= 2;
}
