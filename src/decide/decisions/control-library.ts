import { createHash } from 'node:crypto';
import { type JsonValue, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createPartFactory, type EvaluatorPart } from '../../kernel/core/evaluator-part.js';
import { type PreparedControl, prepareControl } from '../../kernel/core/prepared-control.js';
import { WeakStore } from './weak-store.js';

/** Memory limit of compiled evaluators unused by programs, in bytes: an eighth of that of programs. */
const MAX_UNUSED_BYTES = 64 * 1024 * 1024;

/** Compiles stored definitions, each text once: agents share common parts, and a change costs one control. */
export interface ControlLibrary {
  /** `text` is the stored definition. Never throws. */
  prepare(text: string): PreparedControl;
  /** The stored definition of a control that takes part in evaluation; undefined for any other. */
  textOf(prepared: PreparedControl): string | undefined;
}

/** Creates a library; `keepEvaluators` is the number of compiled evaluators kept without a program. */
export function createControlLibrary(options: {
  readonly registry: EvaluatorRegistry;
  readonly keepEvaluators: number;
}): ControlLibrary {
  const evaluators = new WeakStore<EvaluatorPart>({
    keep: options.keepEvaluators,
    keepBytes: MAX_UNUSED_BYTES,
  });
  const partOf = createPartFactory(options.registry, evaluators);
  // None is kept: compared with its evaluators a control costs little to prepare.
  const controls = new WeakStore<PreparedControl>({ keep: 0, keepBytes: 0 });
  /** Those that do not take part are one object for all texts. */
  const texts = new WeakMap<PreparedControl, string>();
  return {
    prepare(text) {
      const known = controls.get(text);
      if (known !== undefined) return known;
      const compiled = prepareControl(parsed(text), partOf, sha256);
      const prepared = compiled.active
        ? { ...compiled, sizeBytes: compiled.sizeBytes + text.length }
        : compiled;
      if (prepared.active) texts.set(prepared, text);
      controls.set(text, prepared);
      return prepared;
    },
    textOf: (prepared) => texts.get(prepared),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Invalid JSON is parsed as null, which the core treats as a damaged definition and fails closed on. */
function parsed(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}
