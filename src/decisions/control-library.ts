import type { EvaluatorRegistry } from '../core/evaluator.js';
import { createPartFactory, type EvaluatorPart } from '../core/evaluator-part.js';
import { type PreparedControl, prepareControl } from '../core/prepared-control.js';
import type { JsonValue } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import { WeakStore } from './weak-store.js';

/** Most memory of compiled evaluators that no program holds, in bytes: an eighth of what programs get by default. */
const MAX_UNUSED_BYTES = 64 * 1024 * 1024;

/** Compiles stored definitions, each text once: agents share what they have in common, and a change costs one control. */
export interface ControlLibrary {
  /** `text` is the definition as it is stored. Never throws. */
  prepare(text: string): PreparedControl;
}

/** A library; `keepEvaluators` is how many compiled evaluators it keeps although no program holds them. */
export function createControlLibrary(options: {
  readonly registry: EvaluatorRegistry;
  readonly keepEvaluators: number;
}): ControlLibrary {
  const evaluators = new WeakStore<EvaluatorPart>({
    keep: options.keepEvaluators,
    keepBytes: MAX_UNUSED_BYTES,
  });
  const partOf = createPartFactory(options.registry, evaluators);
  // None is kept: next to its evaluators a control costs little to prepare.
  const controls = new WeakStore<PreparedControl>({ keep: 0, keepBytes: 0 });
  return {
    prepare(text) {
      const known = controls.get(text);
      if (known !== undefined) return known;
      const prepared = prepareControl(parsed(text), partOf);
      controls.set(text, prepared);
      return prepared;
    },
  };
}

/** Text that is no JSON reads as null, which the core takes for a damaged definition and fails closed on. */
function parsed(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}
