import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { RULE_KINDS } from '../../core/memory.js';
import { isSelectorPath } from '../../core/selector.js';

/** A path that a check with memory reads of a step, and its place in the configuration. */
export interface ConfigPath {
  readonly path: string;
  /** Such as `key[0]`. */
  readonly place: string;
}

/** Members of configurations that are paths, or lists of them. Other texts in them are no paths. */
const MEMBERS = ['key', 'by', 'amount', 'reserve', 'settle', 'value'];

/** The paths that a configuration of an evaluator with memory names; none for other evaluators. */
export function* configPaths(evaluatorName: string, config: JsonObject): Generator<ConfigPath, void> {
  if (!(RULE_KINDS as readonly string[]).includes(evaluatorName)) return;
  for (const member of MEMBERS) {
    // The value of `history` is one of earlier events, whose steps need not be in the scope.
    if (evaluatorName === 'history' && member === 'value') continue;
    const value = config[member];
    if (typeof value === 'string' && isSelectorPath(value)) yield { path: value, place: member };
    if (!Array.isArray(value)) continue;
    for (const [index, part] of value.entries()) {
      if (typeof part === 'string' && isSelectorPath(part))
        yield { path: part, place: `${member}[${index}]` };
    }
  }
}
