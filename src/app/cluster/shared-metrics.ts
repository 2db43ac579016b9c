import { AggregatorRegistry, type Registry } from 'prom-client';
import { type MeasuredMetric, measure } from '../operations/metrics.js';

/** Time limit for the metrics of one worker, in milliseconds. Then the last reported values are used. */
const MEASURE_LIMIT_MS = 2_000;

/** A worker that reports metrics. */
export interface Measurable {
  /** Asks for metrics; `measured` must be called with the same id. */
  measure(id: number): void;
}

interface Question {
  readonly worker: Measurable;
  readonly done: () => void;
}

/**
 * The metrics of all workers as those of one service. Counts never go back, which Prometheus would treat as a
 * restart: the last reported counts of ended workers are kept.
 */
export class SharedMetrics {
  readonly #own: () => Promise<MeasuredMetric[]>;
  readonly #latest = new Map<Measurable, readonly MeasuredMetric[]>();
  readonly #questions = new Map<number, Question>();
  #ended: readonly MeasuredMetric[] = [];
  #lastId = 0;

  /** `own` returns the metrics of the primary process. */
  constructor(own: () => Promise<MeasuredMetric[]>) {
    this.#own = own;
  }

  add(worker: Measurable): void {
    this.#latest.set(worker, []);
  }

  /** Removes a worker that has ended. */
  async remove(worker: Measurable): Promise<void> {
    const last = this.#latest.get(worker);
    if (last === undefined) return;
    this.#latest.delete(worker);
    for (const question of this.#questions.values()) if (question.worker === worker) question.done();
    // Synchronously, so that no scrape can miss these counts.
    this.#ended = [...this.#ended, ...last.filter(isCount)];
    const ended = this.#ended;
    const sums = await measure(merged([ended]));
    if (this.#ended === ended) this.#ended = sums;
  }

  /** A worker answered, or reports its metrics before it ends. */
  measured(worker: Measurable, id: number, metrics: readonly MeasuredMetric[]): void {
    if (this.#latest.has(worker)) this.#latest.set(worker, metrics.map(withoutGaps));
    this.#questions.get(id)?.done();
  }

  /** All metrics in the Prometheus text format. */
  async text(): Promise<string> {
    const own = await this.#own();
    await Promise.all([...this.#latest.keys()].map((worker) => this.#ask(worker)));
    return merged([own, this.#ended, ...this.#latest.values()]).metrics();
  }

  #ask(worker: Measurable): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#questions.delete(id);
        resolve();
      };
      const timer = setTimeout(done, MEASURE_LIMIT_MS);
      this.#questions.set(id, { worker, done });
      worker.measure(id);
    });
  }
}

/** Metrics that only grow, and so must be kept. */
function isCount({ type }: MeasuredMetric): boolean {
  return type === 'counter' || type === 'histogram';
}

/** Numbers that JSON cannot represent arrive as null: the mean of nothing, for example. */
function withoutGaps(metric: MeasuredMetric): MeasuredMetric {
  return { ...metric, values: metric.values.filter(({ value }) => value !== null) };
}

function merged(lists: readonly (readonly MeasuredMetric[])[]): Registry {
  return AggregatorRegistry.aggregate([...lists]);
}
