import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../packages/exact-json/src/index.js';
import type { CheckCall, Evaluator } from '../../../src/kernel/core/evaluator.js';
import type {
  Decision,
  Detail,
  EvaluatorResult,
  Stage,
  Step,
  Verdict,
} from '../../../src/kernel/core/types.js';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { serviceEvaluators } from '../../support/evaluators.js';
import { type CompileOptions, compileProgram } from './compile-program.js';

/** A tool step whose input is `{ q: "hello" }` unless told otherwise. */
export function aStep(members: Partial<Step> = {}): Step {
  return { type: 'tool', name: 'search', input: { q: 'hello' }, output: null, context: null, ...members };
}

/** An evaluator that answers what `answer` says about its configuration and the data. */
export function fakeEvaluator(
  name: string,
  answer: (
    config: JsonObject,
    data: JsonValue,
    call: CheckCall,
  ) => EvaluatorResult | Promise<EvaluatorResult>,
  more: Partial<Evaluator> = {},
): Evaluator {
  return {
    name,
    version: '1.0.0',
    description: 'answers what the test wants',
    requiresApiKey: false,
    timeoutMs: 1_234,
    configSchema: z.unknown(),
    configJsonSchema: {},
    compile: (config) => ({ evaluate: (data, call) => answer(config, data, call) }),
    ...more,
  };
}

/** A result without message, metadata or error. */
export function aResult(members: Partial<EvaluatorResult> = {}): EvaluatorResult {
  return { matched: true, confidence: 1, message: null, metadata: null, error: null, ...members };
}

/** A leaf over the whole step. */
export function aLeaf(evaluatorName: string, config: JsonObject = {}, path = '*'): JsonObject {
  return { selector: { path }, evaluator: { name: evaluatorName, config } };
}

/** A definition of the service's own execution. */
export function aDefinition(
  condition: JsonValue,
  decision: Decision = 'deny',
  more: JsonObject = {},
): JsonObject {
  return { execution: 'server', enabled: true, condition, action: { decision }, ...more };
}

/** Compiles definitions, with ids 1, 2 … and names control-1, control-2 … */
export function aProgram(
  definitions: readonly JsonValue[],
  evaluators: readonly Evaluator[] = [],
  options: Partial<CompileOptions> = {},
) {
  let executions = 0;
  return compileProgram(
    definitions.map((definition, index) => ({ id: index + 1, name: `control-${index + 1}`, definition })),
    {
      registry: createRegistry([...serviceEvaluators, ...evaluators]),
      newExecutionId: () => {
        executions += 1;
        return `execution-${executions}`;
      },
      ...options,
    },
  );
}

/** Evaluates definitions of synchronous evaluators. */
export function verdictOf(
  definitions: readonly JsonValue[],
  step: Step = aStep(),
  options: { stage?: Stage; detail?: Detail; evaluators?: readonly Evaluator[] } = {},
): Verdict {
  const program = aProgram(definitions, options.evaluators);
  const verdict = program.evaluate(step, options.stage ?? 'pre', options.detail ?? 'full');
  if (verdict instanceof Promise) throw new Error('no evaluator was asynchronous');
  return verdict;
}

/** Control ids of a list of a verdict. */
export const idsOf = (results: Verdict['matches']): number[] => results.map(({ control_id }) => control_id);
