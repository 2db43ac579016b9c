import type { MessageInitShape } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import type { ControlExecutionEventSchema } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { askedPauseMs, isTransient, remedyFor } from './failures.js';
import { newId } from './new-id.js';
import { pauseMs, resting } from './pause.js';
import type { Services } from './services.js';
import { whole } from './settings.js';

/** An event to publish. Without an id it gets one, so that it is stored once even if it is sent twice. */
export type NewEvent = MessageInitShape<typeof ControlExecutionEventSchema>;

/** Options of `publishEvents`. */
export interface PublishOptions {
  /** Most events of one message, 1 to 1,000; 500 when absent. */
  readonly maxBatch?: number | undefined;
  /** Most events that wait to be stored; 10,000 when absent. Further ones are not accepted. */
  readonly maxWaiting?: number | undefined;
  /** Longest time an event waits for others to share its message, in milliseconds; 200 when absent. */
  readonly intervalMs?: number | undefined;
  /** Called for each event that the service refuses, for example because a member is missing. */
  readonly onRefused?: ((event: NewEvent, error: ConnectError) => void) | undefined;
}

/** Sends events in batches, and again until they are stored. */
export interface EventPublisher {
  /** Number of events that wait to be stored. */
  readonly waiting: number;
  /** Adds an event. False when `maxWaiting` events wait already: then it is not sent. */
  add(event: NewEvent): boolean;
  /** Resolves when every event added before is stored or refused. Rejects when the publisher is closed before. */
  flush(): Promise<void>;
  /** Accepts no more events and resolves when all are stored or refused. */
  close(): Promise<void>;
}

const DEFAULT_MAX_BATCH = 500;
const DEFAULT_MAX_WAITING = 10_000;
const DEFAULT_INTERVAL_MS = 200;
/** Longest time for the reply to one message. */
const CALL_TIMEOUT_MS = 30_000;

/** `closing` is aborted when the client is closed; events that wait are then not sent any more. */
export function publishEvents(
  rpc: Services['observability'],
  options: PublishOptions,
  closing: AbortSignal,
): EventPublisher {
  const { intervalMs = DEFAULT_INTERVAL_MS, onRefused } = options;
  const maxBatch = whole('maxBatch', options.maxBatch ?? DEFAULT_MAX_BATCH, 1_000);
  const maxWaiting = whole('maxWaiting', options.maxWaiting ?? DEFAULT_MAX_WAITING, Number.MAX_SAFE_INTEGER);
  const queue: NewEvent[] = [];
  /** Events of the message that is being sent; they count as waiting. */
  let sending = 0;
  let added = 0;
  let settled = 0;
  let isRunning = false;
  let hurry = new AbortController();
  let isClosed = false;
  /** Called after each message. */
  let waiters: (() => void)[] = [];

  async function run(): Promise<void> {
    while (queue.length > 0 && !closing.aborted) {
      if (queue.length < maxBatch) await resting(intervalMs, AbortSignal.any([hurry.signal, closing]));
      const batch = queue.splice(0, maxBatch);
      sending = batch.length;
      await store(batch);
      sending = 0;
      settled += batch.length;
      const woken = waiters;
      waiters = [];
      for (const wake of woken) wake();
    }
    isRunning = false;
    hurry = new AbortController();
  }

  /** Sends events until they are stored or refused. */
  async function store(batch: readonly NewEvent[]): Promise<void> {
    for (let failures = 0; !closing.aborted; failures += 1) {
      try {
        await rpc.createEvents({ events: [...batch] }, { signal: closing, timeoutMs: CALL_TIMEOUT_MS });
        return;
      } catch (reason) {
        const error = ConnectError.from(reason);
        if (!mayStoreLater(error)) {
          await divide(batch, error);
          return;
        }
        await resting(pauseMs(failures, askedPauseMs(error)), closing);
      }
    }
  }

  /** One invalid event refuses its whole message: halves find it. */
  async function divide(batch: readonly NewEvent[], error: ConnectError): Promise<void> {
    if (closing.aborted) return;
    if (batch.length > 1 && remedyFor(error) !== 'fail') {
      const half = Math.ceil(batch.length / 2);
      await store(batch.slice(0, half));
      await store(batch.slice(half));
      return;
    }
    for (const event of batch) {
      try {
        onRefused?.(event, error);
      } catch {
        // What the caller does with a refused event must not stop the others.
      }
    }
  }

  function start(): void {
    if (isRunning) return;
    isRunning = true;
    void run();
  }

  async function flush(): Promise<void> {
    const target = added;
    while (settled < target) {
      if (closing.aborted) throw closing.reason;
      hurry.abort();
      await new Promise<void>((resolve) => waiters.push(resolve));
    }
    if (closing.aborted && target > 0) throw closing.reason;
  }

  return {
    get waiting() {
      return queue.length + sending;
    },
    add(event) {
      if (isClosed || closing.aborted || queue.length + sending >= maxWaiting) return false;
      added += 1;
      queue.push(event.controlExecutionId === undefined ? { ...event, controlExecutionId: newId() } : event);
      start();
      return true;
    },
    flush,
    async close() {
      isClosed = true;
      await flush();
    },
  };
}

function mayStoreLater(error: ConnectError): boolean {
  const remedy = remedyFor(error);
  return isTransient(error) || remedy === 'reconnect' || remedy === 'suspect';
}
