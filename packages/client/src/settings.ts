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
