import { parseTimeout as parseConnectTimeout } from '@connectrpc/connect/protocol-connect';
import { parseTimeout as parseGrpcTimeout } from '@connectrpc/connect/protocol-grpc';
import { type BodyExpiry, deadlinePassed, tooSlow } from './body-time.js';
import { LONGEST_TIMER_MS } from './call-time.js';

/** The time an RPC may take by the wish of its caller. */
export interface CallerTimeout {
  /** Name of its header. */
  readonly header: string;
  /** Milliseconds; infinite without one, and for times beyond the range of timers (weeks). */
  readonly ms: number;
  /** Set if the header has no valid time. */
  readonly error?: Error;
}

/** Reads the timeout of an RPC. `header` returns a header of the request. */
export function callerTimeoutOf(
  protocol: string,
  header: (name: string) => string | null | undefined,
): CallerTimeout {
  const isConnect = protocol === 'connect';
  const name = isConnect ? 'connect-timeout-ms' : 'grpc-timeout';
  const parse = isConnect ? parseConnectTimeout : parseGrpcTimeout;
  const { timeoutMs = Number.POSITIVE_INFINITY, error } = parse(
    header(name) ?? null,
    Number.POSITIVE_INFINITY,
  );
  const ms = timeoutMs > LONGEST_TIMER_MS ? Number.POSITIVE_INFINITY : timeoutMs;
  return error === undefined ? { header: name, ms } : { header: name, ms, error };
}

/** What a request that is not complete ends with: the caller's time or that of the service, if that is less. */
export function arrivalExpiry(limitMs: number, callerMs: number): BodyExpiry {
  return callerMs > limitMs
    ? { limitMs, error: () => tooSlow(limitMs) }
    : { limitMs: callerMs, error: deadlinePassed };
}
