import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type Client as RpcClient } from '@connectrpc/connect';
import type {
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { Carrier, CarrierEvents } from './carrier.js';
import { explainedError } from './connection-mistakes.js';
import type { Pending } from './pending.js';

/**
 * A stream accepts no new messages after this time; the next message opens another. A stopping service keeps
 * streams open for SERVICE_DRAIN_SECONDS, 10 by default: within that time even a busy client has moved to
 * another connection.
 */
const STREAM_AGE_MS = 5_000;
/** A stream without an open message ends after this time, to keep neither a process nor a server alive. */
const STREAM_IDLE_MS = 1_000;

type StreamRequest = MessageInitShape<typeof EvaluateStreamRequestSchema>;

export interface StreamCarrierOptions {
  readonly rpc: RpcClient<typeof EvaluationService>;
  readonly headers: Readonly<Record<string, string>>;
  readonly events: CarrierEvents;
  /** Aborts a pending connection attempt. */
  readonly resetConnection?: (() => void) | undefined;
}

/** A carrier of streams. */
export interface StreamCarrier extends Carrier {
  /** Checks whether the stream is silent, after an evaluation timed out. */
  checkSilence(): void;
}

/** Sends batches as messages of one EvaluateStream, which is opened on demand. */
export function createStreamCarrier(options: StreamCarrierOptions): StreamCarrier {
  const { events } = options;
  const open = new Set<BatchStream>();
  let current: BatchStream | undefined;

  function retire(): void {
    current?.finish();
    current = undefined;
  }

  function openStream(): BatchStream {
    const stream: BatchStream = new BatchStream(options, {
      answered: (batch, results) => events.answered(batch, results),
      lost(batches, error) {
        open.delete(stream);
        if (current === stream) current = undefined;
        if (batches.length > 0) events.lost(batches, error);
      },
    });
    open.add(stream);
    return stream;
  }

  return {
    send(batch) {
      if (current?.isFinished(performance.now())) retire();
      current ??= openStream();
      current.send(batch);
    },
    checkSilence() {
      for (const stream of open) {
        if (!stream.isSilent()) continue;
        if (current === stream) retire();
        if (stream.isForgotten()) stream.abandon();
        if (!stream.everAnswered) options.resetConnection?.();
      }
    },
    close() {
      for (const stream of open) stream.close();
      open.clear();
      current = undefined;
    },
  };
}

/** One EvaluateStream. Its end, of any kind, is reported once as `lost` with the unanswered batches. */
class BatchStream {
  everAnswered = false;
  readonly #options: StreamCarrierOptions;
  readonly #events: CarrierEvents;
  readonly #abort = new AbortController();
  readonly #openedAt = performance.now();
  readonly #unanswered = new Map<string, { readonly batch: readonly Pending[]; readonly sentAt: number }>();
  readonly #outbox: StreamRequest[] = [];
  readonly #idleTimer: ReturnType<typeof setInterval>;
  #wakeWriter: (() => void) | undefined;
  #lastUsedAt = this.#openedAt;
  #lastReplyAt = this.#openedAt;
  #nextId = 0;
  #finished = false;
  #ended = false;

  constructor(options: StreamCarrierOptions, events: CarrierEvents) {
    this.#options = options;
    this.#events = events;
    this.#idleTimer = setInterval(() => this.#finishIfIdle(), STREAM_IDLE_MS);
    void this.#read();
  }

  isFinished(now: number): boolean {
    return this.#finished || now - this.#openedAt > STREAM_AGE_MS;
  }

  send(batch: readonly Pending[]): void {
    const id = (this.#nextId++).toString(36);
    this.#lastUsedAt = performance.now();
    this.#unanswered.set(id, { batch, sentAt: this.#lastUsedAt });
    this.#outbox.push({ id, evaluations: batch.map((pending) => pending.message) });
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
    return [...this.#unanswered.values()].every(({ batch }) => batch.every((pending) => pending.settled));
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
    const { rpc, headers } = this.#options;
    // The opener must receive the stream before it can end.
    await Promise.resolve();
    try {
      const replies = rpc.evaluateStream(this.#requests(), { headers, signal: this.#abort.signal });
      for await (const reply of replies) {
        if (this.#ended) return;
        this.everAnswered = true;
        this.#lastUsedAt = this.#lastReplyAt = performance.now();
        const open = this.#unanswered.get(reply.id);
        if (open === undefined) continue;
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
