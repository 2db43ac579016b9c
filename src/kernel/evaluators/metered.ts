import type { CheckCall, CompiledEvaluator, Evaluator, EvaluatorRegistry } from '../core/evaluator.js';
import type { EvaluatorResult } from '../core/types.js';

/** Counters of an evaluator. Plain numbers, so that counting costs next to nothing. */
export interface EvaluatorMeter {
  calls: number;
  /** Checks that ended with an error, timeouts included. */
  errors: number;
  timeouts: number;
  /** Records the duration of an asynchronous check. */
  waited(seconds: number): void;
}

/** The evaluators of a registry, each with its own meter. */
export function meteredRegistry(
  registry: EvaluatorRegistry,
  meterOf: (evaluator: Evaluator) => EvaluatorMeter,
): EvaluatorRegistry {
  return new Map([...registry].map(([name, one]) => [name, metered(one, meterOf(one))]));
}

/**
 * An evaluator with counted checks. Only asynchronous checks are timed: reading the clock takes as long as a
 * synchronous check.
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
    // A check that is no longer awaited did not fail.
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

/** Uses the same criterion for a timeout as the evaluation core. */
function isTimeout(problem: unknown): boolean {
  return /timeout/i.test(problem instanceof Error ? `${problem.name} ${problem.message}` : String(problem));
}
