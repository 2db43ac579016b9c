import { canonicalJson } from '../../../packages/exact-json/src/index.js';
import type { Condition, Leaf } from '../controls/definition/definition.js';

/**
 * Finds the conditions that may follow from another one by their shapes (`Implications`): they have a check in common, or
 * lists of which one has a value of the other. So a set is not compared each with each.
 */
export class LeafIndex {
  readonly #positions = new Map<string, number[]>();

  /** Adds a condition that may follow from others. */
  add(position: number, condition: Condition): void {
    for (const key of new Set(conclusionKeys(condition))) {
      const found = this.#positions.get(key);
      if (found === undefined) this.#positions.set(key, [position]);
      else found.push(position);
    }
  }

  /** The positions of conditions that may follow from this one, each once, at most `most`; more are there if it ends with null. */
  *find(condition: Condition, most: number): Generator<number | null, void> {
    const seen = new Set<number>();
    for (const key of new Set(premiseKeys(condition, true))) {
      for (const position of this.#positions.get(key) ?? []) {
        if (seen.has(position)) continue;
        if (seen.size === most) {
          yield null;
          return;
        }
        seen.add(position);
        yield position;
      }
    }
  }
}

/** All parts of an "and" follow if it does, so its first part is enough. */
function conclusionKeys(condition: Condition): readonly string[] {
  if ('selector' in condition) return leafKeys(condition, true, true);
  if ('and' in condition) return condition.and.slice(0, 1).flatMap(conclusionKeys);
  if ('or' in condition) return condition.or.flatMap(conclusionKeys);
  return sideKeys(condition.not, false, true);
}

function premiseKeys(condition: Condition, positive: boolean): readonly string[] {
  return sideKeys(condition, positive, false);
}

function sideKeys(condition: Condition, positive: boolean, isConclusion: boolean): readonly string[] {
  if ('selector' in condition) return leafKeys(condition, positive, isConclusion);
  if ('not' in condition) return sideKeys(condition.not, !positive, isConclusion);
  const children = 'and' in condition ? condition.and : condition.or;
  return children.flatMap((child) => sideKeys(child, positive, isConclusion));
}

/** Of the shorter list the first value, of the longer one all. Below a "not" they change places. */
function leafKeys({ selector, evaluator: { name, config } }: Leaf, positive: boolean, isConclusion: boolean) {
  const head = `${positive ? '+' : '-'} ${selector.path ?? '*'} ${name} `;
  const { values, ...options } = config;
  if (name !== 'list' || !Array.isArray(values) || values.length === 0) return [head + canonicalJson(config)];
  const own = `${head}${canonicalJson(options)} `;
  const named = positive === isConclusion ? values : values.slice(0, 1);
  return named.map((value) => own + canonicalJson(value));
}
