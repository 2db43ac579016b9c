import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { createLeaseHolder, type Lease, type LeaseHolder } from '../../storage/database/lease.js';
import { ATTEMPT_LIMIT_MS, type Attempt } from './attempt.js';
import type { AttemptResult } from './attempt-result.js';
import { nextAttemptAt } from './backoff.js';
import type { DueDelivery, Outbox, Outcome } from './outbox.js';
import type { Subscriptions } from './subscriptions.js';

/** How long another process waits for one that has died, in milliseconds. Attempts end before it takes over. */
export const SENDER_LEASE_MS = 30_000;
const INTERVAL_MS = 500;
/** Without work for this long, the lease is given back, in milliseconds. */
const IDLE_MS = 10_000;
/** Attempts at a time, in all and to one destination: one that hangs does not hold up others. */
const MAX_ATTEMPTS = 32;
const MAX_PER_DESTINATION = 4;

export interface SenderOptions {
  readonly outbox: Pick<Outbox, 'hasDue' | 'due' | 'settle'>;
  readonly lease: Lease;
  readonly attempt: Attempt;
  readonly subscriptions: Pick<Subscriptions, 'any'>;
  readonly failures: Pick<RepeatLog, 'failed' | 'told'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  readonly intervalMs?: number;
  /** Longest time of an attempt, in milliseconds. */
  readonly attemptLimitMs?: number;
}

/** Sends what is in the outbox, while this process has the lease. */
export interface Sender {
  start(): void;
  /** Ends running attempts, which are made again, and gives the lease back. Never rejects. */
  close(): Promise<void>;
}

export function createSender(options: SenderOptions): Sender {
  const { outbox, lease, attempt, subscriptions, failures, now, monotonic } = options;
  const { intervalMs = INTERVAL_MS, attemptLimitMs = ATTEMPT_LIMIT_MS } = options;
  /** By id of a delivery: those that are sent, and those whose outcomes are not stored yet. */
  const claimed = new Map<number, Promise<void>>();
  const running = new Map<number, number>();
  let unsettled: Outcome[] = [];
  /** The present lease, and what ends the attempts that were begun with it; undefined without it. */
  let held: { readonly holder: LeaseHolder; readonly attempts: AbortController } | undefined;
  let workedAtMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const looks = createLooks(() => (closed ? null : look()));

  async function look(): Promise<void> {
    if (!subscriptions.any && held === undefined) return;
    try {
      await settle();
      if (await keepsLease()) await fill();
    } catch (error) {
      failures.failed('notification outbox', 'notifications cannot be read or stored now', error);
    }
  }

  /** Whether this process may send: long enough for attempts that begin now. */
  async function keepsLease(): Promise<boolean> {
    if (held === undefined) {
      if (!(await outbox.hasDue(now()))) return false;
      const askedAtMs = monotonic();
      if ((await lease.acquire()) === null) return false;
      const holder = createLeaseHolder({ lease, monotonic, askedAtMs, position: () => null });
      held = { holder, attempts: new AbortController() };
      workedAtMs = monotonic();
    }
    const { holder, attempts } = held;
    const leftMs = holder.leftMs();
    if (leftMs <= 0) {
      // Another process sends now.
      attempts.abort();
      unsettled = [];
      claimed.clear();
      running.clear();
    } else if (monotonic() - workedAtMs <= IDLE_MS || claimed.size > 0) return leftMs > attemptLimitMs;
    held = undefined;
    await holder.end();
    return false;
  }

  async function fill(): Promise<void> {
    for (;;) {
      const free = MAX_ATTEMPTS - claimed.size;
      if (free <= 0 || held === undefined || closed) return;
      const busy = [...running].filter(([, count]) => count >= MAX_PER_DESTINATION).map(([id]) => id);
      const due = await outbox.due(now(), free, claimed.keys(), busy);
      let begun = 0;
      for (const delivery of due) {
        if ((running.get(delivery.destinationId) ?? 0) >= MAX_PER_DESTINATION) continue;
        begin(delivery, held.attempts);
        begun += 1;
      }
      if (begun === 0) return;
      workedAtMs = monotonic();
    }
  }

  function begin(delivery: DueDelivery, own: AbortController): void {
    const { id, destinationId } = delivery;
    running.set(destinationId, (running.get(destinationId) ?? 0) + 1);
    const sent = attempt(delivery.target, delivery.message, own.signal).then((result) => {
      // Of an attempt that was ended, or made with a lease that is lost, nothing is known.
      if (own.signal.aborted) return;
      const left = (running.get(destinationId) ?? 1) - 1;
      if (left > 0) running.set(destinationId, left);
      else running.delete(destinationId);
      unsettled.push(outcomeOf(delivery, result, now()));
      looks.wake();
    });
    claimed.set(id, sent);
  }

  /** Until its outcome is stored, a delivery is not sent again. */
  async function settle(): Promise<void> {
    const outcomes = unsettled;
    if (outcomes.length === 0) return;
    await outbox.settle(outcomes);
    unsettled = unsettled.filter((one) => !outcomes.includes(one));
    workedAtMs = monotonic();
    for (const outcome of outcomes) {
      claimed.delete(outcome.delivery.id);
      tellOfEnd(failures, outcome);
    }
  }

  return {
    start() {
      if (closed || timer !== undefined) return;
      timer = setInterval(looks.wake, intervalMs).unref();
      looks.wake();
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await looks.ended();
      const sent = [...claimed.values()];
      held?.attempts.abort();
      await Promise.all(sent);
      try {
        await settle();
      } catch (error) {
        failures.failed('notification outbox', 'notifications cannot be read or stored now', error);
      }
      await held?.holder.end();
    },
  };
}

/** Looks one after the other, and once more after one during which it was woken. `look` returns null if there are no more. */
function createLooks(look: () => Promise<void> | null) {
  let looking: Promise<void> | undefined;
  let again = false;

  function wake(): void {
    if (looking !== undefined) {
      again = true;
      return;
    }
    looking = look()?.finally(() => {
      looking = undefined;
      if (!again) return;
      again = false;
      wake();
    });
  }

  return { wake, ended: async () => looking };
}

/** Logs the end of a delivery that was not accepted. */
function tellOfEnd(
  failures: SenderOptions['failures'],
  { delivery, state, error, disabledReason }: Outcome,
): void {
  const facts = { destination: delivery.destinationId, delivery: delivery.id, error };
  const subject = `notifications ${delivery.destinationId}`;
  if (disabledReason !== null) {
    failures.told(
      'warn',
      `${subject} gone`,
      'a destination wants no more notifications: it is disabled',
      facts,
    );
  } else if (state === 'dead') {
    failures.told('warn', `${subject} dead`, 'a notification was not accepted for 24 hours', facts);
  }
}

/** The destination wants nothing more (RFC 9110; Standard Webhooks). */
const GONE = 410;

function outcomeOf(delivery: DueDelivery, result: AttemptResult, nowMs: number): Outcome {
  const { delivered, status, error, retryAfterMs } = result;
  const shared = { delivery, atMs: nowMs, nextAtMs: nowMs, status, error, disabledReason: null };
  if (delivered) return { ...shared, state: 'delivered' };
  if (status === GONE && delivery.target.type !== 'email') {
    return { ...shared, state: 'dead', disabledReason: 'it answered 410 Gone' };
  }
  const { attempts, sinceMs } = delivery;
  const next = nextAttemptAt({ attempts, sinceMs, nowMs, retryAfterMs, random: Math.random() });
  return next === null ? { ...shared, state: 'dead' } : { ...shared, state: 'waiting', nextAtMs: next };
}
