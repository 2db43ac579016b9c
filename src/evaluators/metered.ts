import type { CheckCall, CompiledEvaluator, Evaluator, EvaluatorRegistry } from '../core/evaluator.js';
import type { EvaluatorResult } from '../core/types.js';

/** Counts what an evaluator does. Plain numbers, so that counting costs next to nothing. */
export interface EvaluatorMeter {
  calls: number;
  /** Checks that gave an error, those that ran out of time included. */
  errors: number;
  timeouts: number;
  /** Time of a check that had to be waited for. */
  waited(seconds: number): void;
}

/** The evaluators of a registry, each with a meter of its own. */
export function meteredRegistry(
  registry: EvaluatorRegistry,
  meterOf: (evaluator: Evaluator) => EvaluatorMeter,
): EvaluatorRegistry {
  return new Map([...registry].map(([name, one]) => [name, metered(one, meterOf(one))]));
}

/**
 * An evaluator whose checks are counted. Only those that answer later are timed: reading the clock takes as long as
 * a check that answers at once.
 */
export function metered(evaluator: Evaluator, meter: EvaluatorMeter): Evaluator {
  return { ...evaluator, compile: (config) => meteredChecks(evaluator.compile(config), meter) };
}

function meteredChecks(compiled: CompiledEvaluator, meter: EvaluatorMeter): CompiledEvaluator {
  return {
    ...compiled,
    evaluate(data, call) {
      meter.calls += 1;
      let result: EvaluatorResult | Promise<EvaluatorResult>;
      try {
        result = compiled.evaluate(data, call);
      } catch (thrown) {
        countFailure(meter, thrown);
        throw thrown;
      }
      if (result instanceof Promise) return waitedFor(result, call, meter);
      if (result.error !== null) countFailure(meter, result.error);
      return result;
    },
  };
}

async function waitedFor(
  result: Promise<EvaluatorResult>,
  call: CheckCall,
  meter: EvaluatorMeter,
): Promise<EvaluatorResult> {
  const start = performance.now();
  try {
    const settled = await result;
    if (settled.error !== null) countFailure(meter, settled.error);
    return settled;
  } catch (thrown) {
    // A check that nobody waits for any more did not fail.
    if (!call.signal.aborted || isTimeout(thrown) || isTimeout(call.signal.reason)) {
      countFailure(meter, isTimeout(thrown) ? thrown : (call.signal.reason ?? thrown));
    }
    throw thrown;
  } finally {
    meter.waited((performance.now() - start) / 1000);
  }
}

function countFailure(meter: EvaluatorMeter, problem: unknown): void {
  meter.errors += 1;
  if (isTimeout(problem)) meter.timeouts += 1;
}

/** The same sign by which the evaluation core knows a time-out. */
function isTimeout(problem: unknown): boolean {
  return /timeout/i.test(problem instanceof Error ? `${problem.name} ${problem.message}` : String(problem));
}
