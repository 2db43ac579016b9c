import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import type { EvaluatorResult } from '../../../../src/kernel/core/types.js';
import {
  type CustomEvaluatorOptions,
  loadCustomEvaluator,
} from '../../../../src/kernel/evaluators/custom/custom-evaluator.js';
import { FULL_CALL } from '../../../support/check-call.js';

export const MODULES = path.join(import.meta.dirname, 'modules');

/** A custom evaluator of a test, ended with it. */
export interface LoadedEvaluator {
  readonly evaluator: Evaluator;
  /** What was logged, in order. */
  readonly logged: { readonly facts: object; readonly message: string }[];
  check(data: JsonValue, config?: JsonObject, signal?: AbortSignal): Promise<EvaluatorResult>;
  status(): ReturnType<NonNullable<Evaluator['status']>>;
}

/** Options of a test: one worker, unless told otherwise. */
export function customOptions(
  more: Partial<CustomEvaluatorOptions> = {},
): CustomEvaluatorOptions & Pick<LoadedEvaluator, 'logged'> {
  const logged: { facts: object; message: string }[] = [];
  const note = (facts: object, message: string): void => void logged.push({ facts, message });
  return {
    directory: MODULES,
    environment: {},
    timeoutMs: 300_000,
    startLimitMs: 300_000,
    workers: 1,
    log: { info: note, warn: note },
    ...more,
    logged,
  };
}

/** Loads a module of `modules`. */
export async function loadModule(
  file: string,
  more: Partial<CustomEvaluatorOptions> = {},
): Promise<LoadedEvaluator> {
  const { logged, ...options } = customOptions(more);
  const evaluator = await loadCustomEvaluator(path.join(MODULES, file), options);
  onTestFinished(() => evaluator.close?.());
  return {
    evaluator,
    logged,
    async check(data, config = {}, signal = new AbortController().signal) {
      return evaluator.compile(config).evaluate(data, { ...FULL_CALL, signal });
    },
    status() {
      if (evaluator.status === undefined) throw new Error('a custom evaluator has a status');
      return evaluator.status();
    },
  };
}
