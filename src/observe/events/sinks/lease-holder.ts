import { LEASE_MS, type SinkLease } from './sink-lease.js';

/** Time between two renewals, in milliseconds: the longest time after which a crash repeats deliveries. */
const RENEWAL_MS = 1_000;
/** Renewals without a new position are this rare, to write little while there are no events. */
const IDLE_RENEWAL_MS = LEASE_MS / 3;
/** A lease counts as lost this long before it expires. */
const MARGIN_MS = 2_000;

/** Renews a lease in the background. */
export interface LeaseHolder {
  /** Whether another process has taken the lease, or may have. */
  isLost(): boolean;
  /** Stores the last position and gives the lease up. Never rejects. */
  end(): Promise<void>;
}

/** Begins to renew a lease that was just taken. `position` returns what to store. */
export function createLeaseHolder(options: {
  readonly lease: SinkLease;
  readonly monotonic: () => number;
  readonly position: () => bigint | null;
}): LeaseHolder {
  const { lease, monotonic, position } = options;
  let renewedAtMs = monotonic();
  let stored = position();
  let isTaken = false;
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const startMs = monotonic();
    const next = position();
    try {
      isTaken = !(await lease.renew(next));
      if (isTaken) return;
      renewedAtMs = startMs;
      stored = next;
    } catch {
      // The database is away, and so are the events; the lease expires if that lasts.
    }
  }

  const timer = setInterval(() => {
    const isDue = position() !== stored || monotonic() - renewedAtMs >= IDLE_RENEWAL_MS;
    if (isTaken || renewing !== undefined || !isDue) return;
    renewing = renew().finally(() => {
      renewing = undefined;
    });
  }, RENEWAL_MS);
  timer.unref();

  return {
    isLost: () => isTaken || monotonic() - renewedAtMs > LEASE_MS - MARGIN_MS,
    async end() {
      clearInterval(timer);
      await renewing;
      // Not released, it expires.
      if (!isTaken) await lease.release(position()).catch(() => {});
    },
  };
}
