import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { Step } from './types.js';

/** Reads one part of a step; null where the path does not resolve. */
export type SelectorFn = (step: Step) => JsonValue;

/** The first segment of a path decides which member of the step is read. */
const ROOTS: ReadonlyMap<string, SelectorFn> = new Map<string, SelectorFn>([
  ['*', wholeStep],
  ['type', (step) => step.type],
  ['name', (step) => step.name],
  ['input', (step) => step.input ?? null],
  ['output', (step) => step.output ?? null],
  ['context', (step) => step.context ?? null],
]);

/** Regular expression equivalent to `isSelectorPath`, for documents. */
export const SELECTOR_PATH_PATTERN = `^(?:${[...ROOTS.keys()].join('|').replaceAll('*', '\\*')})(?:\\.|$)`;

/**
 * Whether `path` is a selector path: what precedes its first dot is `*` or a member of a step. The rest is free,
 * because any text may be a key; an empty segment is the empty key.
 */
export function isSelectorPath(path: string): boolean {
  const dot = path.indexOf('.');
  return ROOTS.has(dot === -1 ? path : path.slice(0, dot));
}

/**
 * Compiles a dotted path. The function reads own properties only, so `__proto__` or `constructor` are
 * ordinary keys, and it does not descend into lists or texts. Throws on an invalid path.
 */
export function compileSelector(path: string): SelectorFn {
  const [first = '', ...keys] = path.split('.');
  const root = ROOTS.get(first);
  if (root === undefined) throw new Error(`not a selector path: ${path}`);
  if (keys.length === 0) return root;
  if (first === '*') return () => null;
  return (step) => {
    let value = root(step);
    for (const key of keys) {
      if (!isObject(value) || !Object.hasOwn(value, key)) return null;
      value = value[key] ?? null;
    }
    return value;
  };
}

function wholeStep(step: Step): JsonObject {
  return {
    type: step.type,
    name: step.name,
    input: step.input ?? null,
    output: step.output ?? null,
    context: step.context ?? null,
  };
}
