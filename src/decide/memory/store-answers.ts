import type { LocalMemory } from './local-memory.js';
import type { MemoryMeter } from './memory-meter.js';
import type { MemoryLog, MemoryTimes, StoreLink } from './store-link.js';

/** Pause after a failure, doubled with each; while the store is taken to be away it is tried in the background. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;

export interface StoreAnswersOptions {
  readonly link: StoreLink;
  readonly local: LocalMemory;
  readonly times: MemoryTimes;
  readonly timeoutMs: number;
  readonly log: MemoryLog;
  readonly meter: MemoryMeter;
}

/** Whether the store answers. */
export class StoreAnswers {
  readonly #options: StoreAnswersOptions;
  /** Failed exchanges in a row. */
  #failures = 0;
  #problem: string | null = null;
  #isDown = false;
  #isClosed = false;

  constructor(options: StoreAnswersOptions) {
    this.#options = options;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Why the store does not answer; null if it does, or was not asked. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether the store is taken to be away. */
  get isDown(): boolean {
    return this.#isDown || this.#isClosed;
  }

  came(): void {
    this.#failures = 0;
    this.#problem = null;
  }

  failed(error: unknown): void {
    const { meter, log } = this.#options;
    this.#failures += 1;
    this.#problem = messageOf(error);
    meter.failed();
    log.failed('memory exchange', 'an exchange with the store of memory failed, and is tried again', error);
  }

  /** The store is taken to be away until it answers; it is tried in the background. */
  down(error: unknown): void {
    this.#problem = messageOf(error);
    if (this.#isDown) return;
    this.#isDown = true;
    this.#options.log.failed(
      'memory store',
      'the store of memory does not answer; controls with memory decide without it',
      error,
    );
    this.#probe(FIRST_PAUSE_MS);
  }

  /** The pause after as many failures as there were. */
  pause(): Promise<void> {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
    return new Promise((resolve) => {
      this.#options.times.after(ms, resolve, true);
    });
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Tries the store until it answers. */
  #probe(afterMs: number): void {
    const { link, local, times, timeoutMs, log } = this.#options;
    const probe = async () => {
      if (this.#isClosed) return;
      try {
        await link.exchange({ epoch: null, cells: [], groups: [], rules: [] }, timeoutMs);
      } catch (error) {
        this.#problem = messageOf(error);
        this.#probe(Math.min(2 * afterMs, LONGEST_PAUSE_MS));
        return;
      }
      this.#isDown = false;
      this.came();
      local.forget();
      log.told('info', 'memory store back', 'the store of memory answers again', {});
    };
    times.after(afterMs, () => void probe(), false);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
