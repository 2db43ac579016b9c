import type { Evaluator } from '../../kernel/core/evaluator.js';
import { type EvaluatorMeter, metered } from '../../kernel/evaluators/metered.js';
import type { CheckCounts } from './thread-messages.js';

interface Counter extends EvaluatorMeter {
  readonly name: string;
  waits: number[];
}

/** Counts the checks of a thread, until they are added to the meters of the process. */
export function createCheckCounters() {
  const all: Counter[] = [];
  return {
    /** The evaluator with counted checks. */
    counted(evaluator: Evaluator): Evaluator {
      const counter: Counter = {
        name: evaluator.name,
        calls: 0,
        errors: 0,
        timeouts: 0,
        waits: [],
        waited: (seconds) => void counter.waits.push(seconds),
      };
      all.push(counter);
      return metered(evaluator, counter);
    },

    /** What was counted since the last call. */
    take(): CheckCounts[] {
      const counted = all.filter(({ calls, waits }) => calls > 0 || waits.length > 0);
      return counted.map((counter) => {
        const { name, calls, errors, timeouts, waits } = counter;
        Object.assign(counter, { calls: 0, errors: 0, timeouts: 0, waits: [] });
        return { name, calls, errors, timeouts, waits };
      });
    },
  };
}

/** Adds counts of a thread to the meter of their evaluator. */
export function addCounts(meter: EvaluatorMeter, { calls, errors, timeouts, waits }: CheckCounts): void {
  meter.calls += calls;
  meter.errors += errors;
  meter.timeouts += timeouts;
  for (const seconds of waits) meter.waited(seconds);
}
