import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type Client as RpcClient } from '@connectrpc/connect';
import type {
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { CarrierEvents } from './carrier.js';
import { explainedError } from './connection-mistakes.js';
import type { Pending } from './pending.js';

/**
 * A stream accepts no new messages after this time; the next message opens another. A stopping service of an earlier
 * version sends no notice and keeps streams open for SERVICE_DRAIN_SECONDS, 10 by default: within that time even a busy
 * client has moved to another connection.
 */
const STREAM_AGE_MS = 5_000;
/** A stream without an open message ends after this time, to keep neither a process nor a server alive. */
const STREAM_IDLE_MS = 1_000;

type StreamRequest = MessageInitShape<typeof EvaluateStreamRequestSchema>;

export interface BatchStreamOptions {
  readonly rpc: RpcClient<typeof EvaluationService>;
  /** Whether the service ends the work on a message that is no longer awaited. */
  readonly canCancel: () => boolean;
  /** The service announced that it ends the stream: messages for it go elsewhere from now on. */
  readonly noticed: () => void;
}

interface OpenMessage {
  readonly batch: readonly Pending[];
  readonly sentAt: number;
}

/** One EvaluateStream. Its end, of any kind, is reported once as `lost` with the unanswered batches. */
export class BatchStream {
  everAnswered = false;
  readonly #options: BatchStreamOptions;
  readonly #events: CarrierEvents;
  readonly #abort = new AbortController();
  readonly #openedAt = performance.now();
  readonly #unanswered = new Map<string, OpenMessage>();
  readonly #outbox: StreamRequest[] = [];
  readonly #idleTimer: ReturnType<typeof setInterval>;
  #wakeWriter: (() => void) | undefined;
  #lastUsedAt = this.#openedAt;
  #lastReplyAt = this.#openedAt;
  #nextId = 0;
  #finished = false;
  #ended = false;

  constructor(options: BatchStreamOptions, events: CarrierEvents) {
    this.#options = options;
    this.#events = events;
    this.#idleTimer = setInterval(() => this.#finishIfIdle(), STREAM_IDLE_MS);
    void this.#read();
  }

  /** Number of messages without an answer. */
  get load(): number {
    return this.#unanswered.size;
  }

  isFinished(now: number): boolean {
    return this.#finished || now - this.#openedAt > STREAM_AGE_MS;
  }

  send(batch: readonly Pending[]): void {
    const id = (this.#nextId++).toString(36);
    this.#lastUsedAt = performance.now();
    this.#unanswered.set(id, { batch, sentAt: this.#lastUsedAt });
    this.#outbox.push({ id, evaluations: batch.map((pending) => pending.message) });
    for (const pending of batch) pending.abandoned = () => this.#cancelIfForgotten(id);
    this.#wakeWriter?.();
  }

  /** Stops sending; the stream ends when the service has answered everything. */
  finish(): void {
    this.#finished = true;
    this.#wakeWriter?.();
  }

  /** Whether nothing was received since the oldest open message was sent, and an evaluation timed out. */
  isSilent(): boolean {
    const [oldest] = this.#unanswered.values();
    if (oldest === undefined || this.#lastReplyAt > oldest.sentAt) return false;
    return oldest.batch.some((pending) => pending.settled);
  }

  /** Whether no answer is awaited any more. */
  isForgotten(): boolean {
    return [...this.#unanswered.values()].every(({ batch }) => isSettled(batch));
  }

  /** Breaks the stream; unanswered batches are reported as lost. */
  abandon(): void {
    this.#abort.abort();
    this.#end(new ConnectError('the stream was silent', Code.Unavailable));
  }

  /** Breaks the stream and reports nothing. */
  close(): void {
    this.#ended = true;
    this.#stopTimers();
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    // The opener must receive the stream before it can end.
    await Promise.resolve();
    try {
      const replies = this.#options.rpc.evaluateStream(this.#requests(), { signal: this.#abort.signal });
      for await (const reply of replies) {
        if (this.#ended) return;
        this.#lastUsedAt = this.#lastReplyAt = performance.now();
        if (reply.notice !== undefined) {
          this.finish();
          this.#options.noticed();
        }
        const open = this.#unanswered.get(reply.id);
        if (open === undefined || (reply.notice !== undefined && reply.results.length === 0)) continue;
        this.everAnswered = true;
        this.#unanswered.delete(reply.id);
        this.#events.answered(open.batch, reply.results);
      }
      this.#end(new ConnectError('the service ended the stream', Code.Unavailable));
    } catch (error) {
      this.#end(explainedError(error));
    }
  }

  async *#requests(): AsyncGenerator<StreamRequest> {
    while (!this.#ended) {
      const next = this.#outbox.shift();
      if (next !== undefined) {
        yield next;
      } else if (this.#finished) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wakeWriter = resolve;
        });
      }
    }
  }

  /** Asks the service to end the work on a message of which every caller has given up. */
  #cancelIfForgotten(id: string): void {
    const open = this.#unanswered.get(id);
    if (open === undefined || this.#finished || this.#ended || !isSettled(open.batch)) return;
    if (!this.#options.canCancel()) return;
    this.#outbox.push({ id, cancel: true });
    this.#wakeWriter?.();
  }

  #finishIfIdle(): void {
    if (this.#unanswered.size > 0 || performance.now() - this.#lastUsedAt < STREAM_IDLE_MS) return;
    // A finished stream whose end the service does not confirm has nothing to lose.
    if (this.#finished) this.abandon();
    else this.finish();
  }

  #end(error: ConnectError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopTimers();
    const batches = [...this.#unanswered.values()].map(({ batch }) => batch);
    this.#unanswered.clear();
    this.#events.lost(batches, error);
  }

  #stopTimers(): void {
    clearInterval(this.#idleTimer);
    this.#wakeWriter?.();
  }
}

function isSettled(batch: readonly Pending[]): boolean {
  return batch.every((pending) => pending.settled);
}
