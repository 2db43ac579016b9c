import { isObject, parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { Step } from '../../kernel/core/types.js';
import { canonicalStep } from '../decisions/step-hash.js';
import { sha256 } from './binding.js';

/** What a stored step belongs to. */
function placeOf(namespace: string, digest: string): string {
  return `${namespace} ${digest}`;
}

/** The text that a step is stored as. */
export function sealedStep(sealing: Sealing, step: Step, namespace: string, digest: string): string {
  return sealing.seal(canonicalStep(step), placeOf(namespace, digest));
}

/** A stored step; null if it cannot be opened, or is not the one with this hash. */
export function stepIn(sealing: Sealing, stored: string, namespace: string, digest: string): Step | null {
  const text = sealing.open(stored, placeOf(namespace, digest));
  if (text === null || sha256(text) !== digest) return null;
  const step = parseStoredJson(text);
  if (!isObject(step)) return null;
  const { type, name, input = null, output = null, context = null } = step;
  if (typeof type !== 'string' || typeof name !== 'string') return null;
  return { type, name, input, output, context: isObject(context) ? context : null };
}
