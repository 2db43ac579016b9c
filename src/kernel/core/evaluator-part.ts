import { type JsonObject, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { CompiledEvaluator, Evaluator, EvaluatorRegistry } from './evaluator.js';
import type { SizedPart } from './types.js';

/** A configured evaluator with the properties the core needs. Shared by leaves and programs. */
export interface EvaluatorPart extends SizedPart {
  readonly evaluatorName: string;
  readonly compiled: CompiledEvaluator;
  /** Time limit of a check that returns a promise, in milliseconds. */
  readonly timeoutMs: number;
  /** See `Evaluator.external`. */
  readonly external: boolean;
}

/** Stores parts by content. A Map suffices; evicted parts are created again. */
export interface PartStore<T> {
  get(key: string): T | undefined;
  set(key: string, part: T): unknown;
}

/** Returns the part for an evaluator and a configuration. Throws when the evaluator rejects the latter. */
export type PartOf = (evaluatorName: string, config: JsonObject) => EvaluatorPart;

/** Memory of a part besides its evaluator, in bytes. */
const BASE_BYTES = 500;
/** Estimate for evaluators that report no size: bytes per character of the configuration. */
const BYTES_PER_CHARACTER = 64;

/**
 * Creates parts; the same one for equal configurations, while `store` holds it. Equal means the same JSON
 * text: whether the order of members matters depends on the evaluator, so it counts.
 */
export function createPartFactory(
  registry: EvaluatorRegistry,
  store: PartStore<EvaluatorPart> = new Map<string, EvaluatorPart>(),
): PartOf {
  return (evaluatorName, config) => {
    const text = stringifyJson(config);
    const key = JSON.stringify([evaluatorName, text]);
    const known = store.get(key);
    if (known !== undefined) return known;
    const part = makePart(evaluatorName, config, text.length, registry.get(evaluatorName));
    store.set(key, part);
    return part;
  };
}

function makePart(
  evaluatorName: string,
  config: JsonObject,
  configLength: number,
  evaluator: Evaluator | undefined,
): EvaluatorPart {
  if (evaluator === undefined) return missingEvaluator(evaluatorName);
  const compiled = evaluator.compile(config);
  return {
    evaluatorName,
    compiled,
    timeoutMs: compiled.timeoutMs ?? evaluator.timeoutMs,
    external: evaluator.external === true,
    sizeBytes: BASE_BYTES + (compiled.sizeBytes ?? configLength * BYTES_PER_CHARACTER),
  };
}

/** A definition may name an evaluator that exists only in clients, or that is not installed yet. */
function missingEvaluator(evaluatorName: string): EvaluatorPart {
  const compiled: CompiledEvaluator = {
    evaluate() {
      throw new Error(`there is no evaluator named ${evaluatorName}`);
    },
  };
  return { evaluatorName, compiled, timeoutMs: 0, external: false, sizeBytes: BASE_BYTES };
}
