import type { Http2Session } from 'node:http2';
import { ServiceError } from '../../errors/service-error.js';

/** When a caller may try again: as soon as some of its other messages are complete. */
const RETRY_AFTER_SECONDS = 1;

/** Bytes that one connection may have lying around in messages that are not complete. */
export class ByteBudget {
  readonly #maxBytes: number;
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get held(): number {
    return this.#held;
  }

  /** A holder now holds `to` bytes instead of `from`. Fails with RATE_LIMITED, and changes nothing, if that is too much. */
  change(from: number, to: number): void {
    const held = this.#held + to - from;
    if (to > from && held > this.#maxBytes) throw tooManyBytes(this.#maxBytes);
    this.#held = held;
  }
}

/** The budgets of connections. */
export type ByteBudgets = (session: Http2Session | undefined) => ByteBudget;

/** Gives each connection a budget of its own, which goes with it. */
export function createByteBudgets(maxBytes: number): ByteBudgets {
  const known = new WeakMap<Http2Session, ByteBudget>();
  return (session) => {
    const existing = session && known.get(session);
    if (existing !== undefined) return existing;
    const budget = new ByteBudget(maxBytes);
    if (session !== undefined) known.set(session, budget);
    return budget;
  };
}

function tooManyBytes(limit: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    detail: `The unfinished messages of the connection are larger than ${limit} bytes together.`,
    hint: 'Send large messages one after the other, or over several connections.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
