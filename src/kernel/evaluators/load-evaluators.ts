import type { Evaluator, EvaluatorRegistry } from '../core/evaluator.js';
import { celEvaluator } from './cel/cel.js';
import type { CustomEvaluatorOptions } from './custom/custom-evaluator.js';
import { loadCustomEvaluators } from './custom/load-custom-evaluators.js';
import { jsonEvaluator } from './json/json.js';
import { listEvaluator } from './list/list.js';
import { LONGEST_US } from './memory/duration.js';
import type { MemoryEvaluatorsOptions } from './memory/memory-evaluator.js';
import { memoryEvaluators } from './memory/memory-evaluators.js';
import {
  DETECTORS,
  type Detectors,
  loadDetectors,
  loadOptionalEvaluators,
  type OptionalEvaluatorOptions,
} from './optional-evaluators.js';
import { regexEvaluator } from './regex/regex.js';
import { sqlEvaluator } from './sql/sql.js';

export interface EvaluatorsOptions {
  /** Modules named by SERVICE_EVALUATORS. */
  readonly modules: readonly string[];
  readonly custom: CustomEvaluatorOptions;
  readonly optional: OptionalEvaluatorOptions;
  readonly memory: MemoryEvaluatorsOptions;
}

/** All evaluators of a service. */
export interface Evaluators {
  readonly registry: EvaluatorRegistry;
  readonly findSensitive: Detectors['findSensitive'];
  /** Ends the workers. */
  close(): Promise<void>;
}

/** Loads every evaluator: built in, installed, and custom. Rejects when a requested one is unusable. */
export async function loadEvaluators(options: EvaluatorsOptions): Promise<Evaluators> {
  const detectors = await loadDetectors(options.optional.log);
  const known = [
    ...plainEvaluators,
    ...detectors.evaluators,
    ...memoryEvaluators(options.memory),
    ...(await loadOptionalEvaluators(options.optional)),
  ];
  const custom = await loadCustomEvaluators(options.modules, options.custom);
  const close = async (): Promise<void> => {
    await Promise.all([...known, ...custom].map((evaluator) => evaluator.close?.()));
  };
  try {
    for (const { name } of custom) {
      if (known.some((other) => other.name === name)) {
        throw new Error(`SERVICE_EVALUATORS: the service has an evaluator named ${name} already`);
      }
    }
    const registry = createRegistry([...known, ...custom]);
    return { registry, findSensitive: detectors.findSensitive, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The built-in evaluators that need no setting, without those of packages. */
const plainEvaluators: readonly Evaluator[] = [
  regexEvaluator,
  listEvaluator,
  jsonEvaluator,
  sqlEvaluator,
  celEvaluator,
];

/** The built-in evaluators, without those of packages, with the longest windows that a setting allows. */
export const builtinEvaluators: readonly Evaluator[] = [
  ...plainEvaluators,
  ...memoryEvaluators({ maxWindowMs: LONGEST_US / 1_000 }),
];

/** The names of the evaluators that each thread has itself. */
export const THREAD_EVALUATORS: ReadonlySet<string> = new Set([
  ...builtinEvaluators.map(({ name }) => name),
  ...DETECTORS.evaluators,
]);

/** A registry with the longest windows that a setting allows, for evaluators with memory. */
export function withLongestWindows(registry: EvaluatorRegistry): EvaluatorRegistry {
  const longest = memoryEvaluators({ maxWindowMs: LONGEST_US / 1_000 });
  return new Map([...registry, ...longest.map((evaluator) => [evaluator.name, evaluator] as const)]);
}

/** A registry of evaluators. Throws on duplicate names: which one ran would be arbitrary. */
export function createRegistry(evaluators: readonly Evaluator[]): EvaluatorRegistry {
  const registry = new Map<string, Evaluator>();
  for (const evaluator of evaluators) {
    if (registry.has(evaluator.name)) throw new Error(`two evaluators are named ${evaluator.name}`);
    registry.set(evaluator.name, evaluator);
  }
  return registry;
}
