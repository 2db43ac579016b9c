import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { Sender } from './sender.js';
import type { TelemetryOptions } from './telemetry.js';

export interface SpanQueueOptions extends Pick<TelemetryOptions, 'meter' | 'failures'> {
  readonly send: Sender<ReadableSpan[]>;
  /** Most spans that wait; further ones are dropped, so that a receiver that is away costs no more memory. */
  readonly maxWaiting: number;
  /** Most spans in one request. */
  readonly batch: number;
  /** Longest time that a span waits for others, in milliseconds. */
  readonly delayMs: number;
}

/**
 * Ended spans until they are sent, one request at a time. Unlike the queue of the SDK it counts what is dropped, and
 * what the receiver did not take.
 */
export class SpanQueue implements SpanProcessor {
  readonly #options: SpanQueueOptions;
  #waiting: ReadableSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #inRequest = 0;
  #isClosed = false;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    const { maxWaiting, batch, delayMs, meter, failures } = this.#options;
    if (this.#isClosed || this.#waiting.length >= maxWaiting) {
      meter('traces', 'dropped', 1);
      failures.told('warn', 'telemetry dropped', 'spans are dropped, too many wait for the receiver', {});
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length === batch) this.#sendAfter(0);
    else if (this.#timer === undefined) this.#sendAfter(delayMs);
  }

  async forceFlush(): Promise<void> {
    if (this.#sending === undefined && this.#waiting.length > 0) this.#sending = this.#sendAll();
    await this.#sending;
  }

  /** Sends what waits, unless the receiver does not take it. */
  async shutdown(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    await this.forceFlush();
  }

  /** Drops what still waits. Returns the number of spans that have not been taken, with those under way. */
  drop(): number {
    const waiting = this.#waiting.length;
    this.#waiting = [];
    this.#options.meter('traces', 'dropped', waiting);
    return waiting + this.#inRequest;
  }

  /** Never within the evaluation whose span ends. While a request is under way, it is the next one that sends. */
  #sendAfter(ms: number): void {
    if (this.#sending !== undefined || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.forceFlush(), ms);
    this.#timer.unref();
  }

  async #sendAll(): Promise<void> {
    const { send, batch, delayMs } = this.#options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let goesOn = true;
    while (goesOn) {
      const spans = this.#waiting.splice(0, batch);
      this.#inRequest = spans.length;
      const isTaken = await send(spans, spans.length);
      this.#inRequest = 0;
      // What is less than a batch waits for more, except at shutdown.
      goesOn = this.#isClosed ? isTaken && this.#waiting.length > 0 : this.#waiting.length >= batch;
    }
    this.#sending = undefined;
    if (this.#waiting.length > 0) this.#sendAfter(delayMs);
  }
}
