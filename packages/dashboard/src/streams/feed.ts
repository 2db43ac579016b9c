import { retryDelayMs, waitFor } from '../data/retry.js';
import type { StreamFailure } from './stream-letters.js';
import type { StreamSource, StreamStep } from './stream-source.js';

/** Times of a feed in milliseconds. */
export interface FeedTimes {
  /** A stream without a message for this long is broken: the server sends one every 15 seconds. */
  readonly silentMs: number;
  /** Longest visit, so that one feed with very much to read does not keep the others waiting. */
  readonly visitMs: number;
  readonly retryMs: (failures: number) => number;
}

export const FEED_TIMES: FeedTimes = { silentMs: 40_000, visitMs: 2_000, retryMs: retryDelayMs };

/** What is told about a feed. */
export interface FeedEvents {
  onStep(feed: Feed, step: StreamStep): void;
  onLost(feed: Feed): void;
}

/**
 * A stream that continues after its position whenever it is opened. It is either held open or visited: opened for as
 * long as it takes to catch up.
 */
export class Feed {
  /** Everything up to it was received. Undefined: from the start, or from now on. */
  position: bigint | undefined;
  /** False between the parts of a message. */
  isWhole = true;
  /** Whether a message was received. */
  hasStarted = false;
  /** Whether it has received everything at some time since it was last opened. */
  isCurrent = false;
  failure: StreamFailure | undefined;
  #failures = 0;
  #restsUntil = 0;
  #rest = new AbortController();

  constructor(
    /** Equal for feeds with the same source and request. */
    readonly key: string,
    readonly source: StreamSource,
    private readonly request: Uint8Array,
    after: bigint | undefined,
    private readonly events: FeedEvents,
    private readonly times: FeedTimes = FEED_TIMES,
  ) {
    this.position = after;
  }

  /** Reads until the signal is aborted, and opens a lost stream again. */
  async hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#read(signal, false);
      this.#rest = new AbortController();
      await waitFor(this.#restMs(), AbortSignal.any([signal, this.#rest.signal]));
    }
  }

  /** Ends the rest after a failure, because there is reason to hope. */
  wake(): void {
    this.#restsUntil = 0;
    this.#rest.abort();
  }

  /** Reads until the feed is caught up. Does nothing for a while after a failure. */
  async visit(signal: AbortSignal): Promise<void> {
    if (this.#restMs() === 0) await this.#read(signal, true);
  }

  #restMs(): number {
    return Math.max(0, this.#restsUntil - performance.now());
  }

  async #read(signal: AbortSignal, isVisit: boolean): Promise<void> {
    const stop = new AbortController();
    const end = (): void => stop.abort();
    signal.addEventListener('abort', end);
    const endOfVisit = performance.now() + this.times.visitMs;
    let silence: ReturnType<typeof setTimeout> | undefined;
    const expectMessage = (): void => {
      clearTimeout(silence);
      silence = setTimeout(end, this.times.silentMs);
    };
    try {
      expectMessage();
      for await (const step of this.source.open(this.request, this.position, stop.signal)) {
        if (signal.aborted) return;
        expectMessage();
        this.#take(step);
        if (!isVisit || !step.isWhole) continue;
        if (step.isCaughtUp || performance.now() > endOfVisit) return;
      }
      this.#fail({ code: 14, message: 'The server has ended the stream.' }, signal);
    } catch (error) {
      this.#fail(failureOf(error), signal);
    } finally {
      clearTimeout(silence);
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #take(step: StreamStep): void {
    this.position = step.position;
    this.isWhole = step.isWhole;
    this.hasStarted = true;
    if (step.isCaughtUp) this.isCurrent = true;
    this.failure = undefined;
    this.#failures = 0;
    this.events.onStep(this, step);
  }

  #fail(failure: StreamFailure, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#restsUntil = performance.now() + this.times.retryMs(this.#failures);
    this.#failures += 1;
    this.failure = failure;
    this.isCurrent = false;
    this.events.onLost(this);
  }
}

function failureOf(error: unknown): StreamFailure {
  const { code, message, rawMessage } = error as { code?: unknown; message?: unknown; rawMessage?: unknown };
  return { code: typeof code === 'number' ? code : 2, message: String(rawMessage ?? message) };
}
