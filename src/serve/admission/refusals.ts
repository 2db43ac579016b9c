import { ServiceError } from '../../contract/errors/service-error.js';

/** Reasons for refusals, as labelled in the metrics. */
const REFUSAL_REASONS = [
  /** The event loop is late. */
  'overload',
  /** The key has too many calls running, or makes too many per second. */
  'key-limit',
  'key-rate',
  /** Too many calls without a key: running, or per second. */
  'public-limit',
  'public-rate',
  /** Wrong keys from this address. */
  'key-guessing',
  /** Bytes of unanswered requests. */
  'connection-bytes',
  'address-bytes',
  'key-bytes',
  'process-bytes',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Reasons why a connection was closed or not accepted. */
const CLOSED_REASONS = [
  /** The process, or the address, has too many connections. */
  'connections',
  'address-connections',
  /** The client continued after refusals, or resets streams before they are answered. */
  'abuse',
] as const;
type ClosedReason = (typeof CLOSED_REASONS)[number];

/** Counts refused calls and closed connections. */
export interface RefusalMeter {
  /** A call was refused. */
  callRefused(reason: RefusalReason): void;
  /** A connection was not accepted, or was closed. */
  connectionClosed(reason: ClosedReason): void;
}

/** Default Retry-After. Calls take milliseconds, so a short time is enough. */
const RETRY_AFTER_SECONDS = 1;

interface RefusalText {
  readonly code: 'RATE_LIMITED' | 'SERVICE_UNAVAILABLE';
  detail(limit: number): string;
  readonly hint: string;
  /** What the limit counts for. */
  readonly quota?: string;
}

const TEXTS: Readonly<Record<Exclude<RefusalReason, 'key-guessing'>, RefusalText>> = {
  overload: {
    code: 'SERVICE_UNAVAILABLE',
    detail: () => 'The server is overloaded and takes no new calls at the moment.',
    hint: 'Try again after the stated time.',
  },
  'key-limit': {
    code: 'RATE_LIMITED',
    quota: 'API key',
    detail: (limit) => `The API key has ${limit} calls running, which is the limit.`,
    hint: 'Wait for calls to end, or put many evaluations into one batch or stream.',
  },
  'key-rate': {
    code: 'RATE_LIMITED',
    quota: 'API key',
    detail: (limit) => `The API key may make ${limit} calls a second, each evaluation counted.`,
    hint: 'Spread the calls over time.',
  },
  'public-limit': {
    code: 'RATE_LIMITED',
    quota: 'calls without an API key',
    detail: (limit) => `At most ${limit} calls without an API key may run at the same time.`,
    hint: 'Wait for calls to end, or use fewer streams.',
  },
  'public-rate': {
    code: 'RATE_LIMITED',
    quota: 'calls without an API key',
    detail: () => 'Too many calls without a valid API key.',
    hint: 'Spread the calls over time, or show a valid API key.',
  },
  'connection-bytes': {
    code: 'RATE_LIMITED',
    quota: 'connection',
    detail: (limit) => `The unanswered requests of the connection are larger than ${limit} bytes together.`,
    hint: 'Send large requests one after the other, or over several connections.',
  },
  'address-bytes': {
    code: 'RATE_LIMITED',
    quota: 'address',
    detail: (limit) => `The unanswered requests of the address are larger than ${limit} bytes together.`,
    hint: 'Send large requests one after the other.',
  },
  'key-bytes': {
    code: 'RATE_LIMITED',
    quota: 'API key',
    detail: (limit) => `The unanswered requests of the API key are larger than ${limit} bytes together.`,
    hint: 'Send large requests one after the other.',
  },
  'process-bytes': {
    code: 'SERVICE_UNAVAILABLE',
    detail: () => 'The server takes no more large requests at the moment.',
    hint: 'Try again after the stated time.',
  },
};

/** Refusals are cached, because the same ones repeat under load. */
const made = new Map<string, ServiceError>();
/** Limits are settings and times are whole seconds, so there are few different refusals. */
const MAX_MADE = 1_000;

/** The error for a limit that is reached. `retryAfterSeconds` is a whole number. */
export function refusal(
  reason: Exclude<RefusalReason, 'key-guessing'>,
  limit: number,
  retryAfterSeconds = RETRY_AFTER_SECONDS,
): ServiceError {
  const key = `${reason} ${limit} ${retryAfterSeconds}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const { code, detail, hint, quota } = TEXTS[reason];
  const subject = quota === undefined ? {} : { quota };
  const error = new ServiceError(code, { detail: detail(limit), hint, retryAfterSeconds, ...subject });
  if (made.size < MAX_MADE) made.set(key, error);
  return error;
}
