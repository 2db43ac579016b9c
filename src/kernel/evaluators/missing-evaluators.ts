import { z } from 'zod';
import { field, report } from '../../contract/input/fields.js';
import type { Evaluator, EvaluatorRegistry } from '../core/evaluator.js';

/**
 * What stands for evaluators whose package is not installed: a control with one is refused, and each check is an error,
 * which fails closed.
 */
export function missingEvaluators(names: readonly string[], packageName: string): Evaluator[] {
  return names.map((name): Evaluator => {
    const why = `the service cannot run the evaluator ${name} without the package ${packageName}, which is not installed`;
    return {
      name,
      version: '',
      description: '',
      requiresApiKey: false,
      timeoutMs: 0,
      unavailable: why,
      isMissing: true,
      configSchema: field((_config, sink) => {
        report(sink, 'value_error', why, name, ['name']);
        return z.NEVER;
      }),
      configJsonSchema: {},
      compile: () => ({
        evaluate() {
          throw new Error(why);
        },
      }),
    };
  });
}

/** The evaluators without those that stand for missing ones: for lists, and for controls that are stored already. */
export function installedEvaluators(registry: EvaluatorRegistry): EvaluatorRegistry {
  return new Map([...registry].filter(([, evaluator]) => evaluator.isMissing !== true));
}
