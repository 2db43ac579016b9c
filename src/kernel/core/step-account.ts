/** Search steps per turn of the event loop: some 2 ms. One search alone may take ten times as long. */
const MAX_TURN_STEPS = 150_000;
/** Most search steps of one evaluation: more than a second. The remaining checks cannot be evaluated. */
const MAX_EVALUATION_STEPS = 100_000_000;

/** Yields to the event loop. */
export type NextTurn = () => Promise<void>;

/**
 * Adds up the work of the checks of one evaluation. Each check is individually bounded; a step with many
 * costly ones is evaluated in several turns, and incompletely when they exceed the limit.
 */
export class StepAccount {
  readonly #nextTurn: NextTurn | undefined;
  #turn = 0;
  #total = 0;
  readonly #waiting: (() => void)[] = [];

  /** Without `nextTurn` all work is done in one turn. */
  constructor(nextTurn: NextTurn | undefined) {
    this.#nextTurn = nextTurn;
  }

  begin(): void {
    this.#turn = 0;
    this.#total = 0;
  }

  spend(steps: number): void {
    this.#turn += steps;
    this.#total += steps;
  }

  /** Whether the evaluation has reached its work limit. */
  get isExhausted(): boolean {
    return this.#total > MAX_EVALUATION_STEPS;
  }

  /** Whether the next check has to wait for another turn. */
  get mustWait(): boolean {
    return this.#nextTurn !== undefined && (this.#turn > MAX_TURN_STEPS || this.#waiting.length > 0);
  }

  /** Runs a check in a later turn, after those already queued. */
  later<T>(check: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(check()));
      if (this.#waiting.length === 1) void this.#run();
    });
  }

  /** A running check stays queued meanwhile, so that checks issued by others queue behind it. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#nextTurn?.();
      this.#turn = 0;
      let done = 0;
      for (const check of this.#waiting) {
        if (this.#turn > MAX_TURN_STEPS) break;
        check();
        done += 1;
      }
      this.#waiting.splice(0, done);
    }
  }
}
