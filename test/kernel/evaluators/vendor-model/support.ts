import {
  DEFAULT_LIMITS,
  type EndpointLimits,
} from '../../../../packages/evaluator-vendor-model/src/endpoint.js';
import { createEvaluator } from '../../../../packages/evaluator-vendor-model/src/index.js';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { EvaluatorResult } from '../../../../src/kernel/core/types.js';
import { evaluatorOf } from '../../../../src/kernel/evaluators/optional-evaluators.js';
import { FULL_CALL } from '../../../support/check-call.js';

export const TOXIC: JsonObject = { metric: 'input_toxicity', operator: 'gt', target_value: 0.5 };

export interface VendorOptions {
  readonly apiUrl: string | null;
  readonly apiKey?: string | null;
  readonly limits?: Partial<EndpointLimits>;
}

/** The evaluator of the package, as the service makes it. */
export function vendorModel({ apiUrl, apiKey = 'secret-key', limits = {} }: VendorOptions) {
  const logged: string[] = [];
  const log = { warn: (_facts: object, message: string): void => void logged.push(message) };
  const quick = { ...DEFAULT_LIMITS, retryDelayMs: 5, ...limits };
  const evaluator = evaluatorOf(
    { createEvaluator: (options) => createEvaluator(options, quick) },
    { apiKey, apiUrl, onnxModels: [], log },
  );
  return {
    evaluator,
    logged,
    async check(
      data: JsonValue,
      config: JsonObject = TOXIC,
      signal = new AbortController().signal,
    ): Promise<EvaluatorResult> {
      return evaluator.compile(config).evaluate(data, { ...FULL_CALL, signal });
    },
    status() {
      if (evaluator.status === undefined) throw new Error('vendor.model has a status');
      return evaluator.status();
    },
  };
}
