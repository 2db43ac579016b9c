import { ServiceError } from '../../errors/service-error.js';

/** When a caller may try again: as soon as other requests are complete. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Bytes that one request may always hold: about as much memory as an open request takes without them. However much
 * others hold, small requests are served.
 */
export const FREE_BYTES = 16_384;

/** Bytes that requests may hold before they are answered. */
export interface ByteLimits {
  /** On one connection. */
  readonly connectionBytes: number;
  /** In the whole process. */
  readonly totalBytes: number;
}

/** What is held in the whole process. */
interface Total {
  held: number;
}

/** Bytes that the requests of one connection hold: bodies, and messages that are not complete. */
export class ByteBudget {
  readonly #limits: ByteLimits;
  readonly #total: Total;
  #held = 0;

  constructor(limits: ByteLimits, total: Total) {
    this.#limits = limits;
    this.#total = total;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * A holder now holds `to` bytes instead of `from`. If that is too much it changes nothing and fails: with RATE_LIMITED
   * for the connection, with SERVICE_UNAVAILABLE for the process.
   */
  change(from: number, to: number): void {
    const more = to - from;
    if (more > 0 && to > FREE_BYTES) {
      const { connectionBytes, totalBytes } = this.#limits;
      if (this.#held + more > connectionBytes) throw tooManyOnConnection(connectionBytes);
      if (this.#total.held + more > totalBytes) throw tooManyInProcess();
    }
    this.#held += more;
    this.#total.held += more;
  }
}

/** The budgets of connections: HTTP/2 sessions and sockets of HTTP/1. */
export interface ByteBudgets {
  of(connection: object | undefined): ByteBudget;
  /** Bytes held on all connections. */
  readonly held: number;
}

/** Gives each connection a budget of its own, which goes with it. */
export function createByteBudgets(limits: ByteLimits): ByteBudgets {
  const known = new WeakMap<object, ByteBudget>();
  const total: Total = { held: 0 };
  return {
    of(connection) {
      const existing = connection && known.get(connection);
      if (existing !== undefined) return existing;
      const budget = new ByteBudget(limits, total);
      if (connection !== undefined) known.set(connection, budget);
      return budget;
    },
    get held() {
      return total.held;
    },
  };
}

/** What one request holds of a budget. */
export class HeldBytes {
  readonly #budget: ByteBudget;
  #bytes = 0;
  #isOver = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Holds this many bytes more. Fails like the budget. */
  add(bytes: number): void {
    this.set(this.#bytes + bytes);
  }

  /** Holds this many bytes instead. Fails like the budget. */
  set(bytes: number): void {
    if (this.#isOver) return;
    this.#budget.change(this.#bytes, bytes);
    this.#bytes = bytes;
  }

  /** Gives everything back, for good. Has to be called when the request is over. */
  release(): void {
    this.set(0);
    this.#isOver = true;
  }
}

function tooManyOnConnection(limit: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    detail: `The unfinished requests of the connection are larger than ${limit} bytes together.`,
    hint: 'Send large requests one after the other, or over several connections.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function tooManyInProcess(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', {
    detail: 'The server takes no more large requests at the moment.',
    hint: 'Try again after the stated time.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
