import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../packages/exact-json/src/index.js';
import type { Step } from '../../kernel/core/types.js';

/**
 * The canonical text of a step: the canonical JSON of an object with exactly the members context, input, name, output
 * and type, where output and context are null if the step has none. Two steps with the same text have the same verdict
 * by the same controls.
 */
export function canonicalStep({ type, name, input, output, context }: Step): string {
  return canonicalJson({ type, name, input, output, context });
}

/** SHA-256 of the canonical text of a step as UTF-8, in lower-case hexadecimal digits. */
export function stepSha256(step: Step): string {
  return createHash('sha256').update(canonicalStep(step)).digest('hex');
}
