import { isObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import type { PatchOperation } from './lift.js';
import type { Step } from './step.js';

/** The members of a step that can be changed. */
const CHANGEABLE = ['input', 'output', 'context'] as const;

/** The operations of JSON Patch that make one step of another. Parts that are the same object are equal. */
export function patchBetween(before: Step, after: Step): PatchOperation[] {
  const patch: PatchOperation[] = [];
  for (const member of CHANGEABLE) compare(before[member], after[member], `/${member}`, patch);
  return patch;
}

function compare(before: JsonValue, after: JsonValue, path: string, patch: PatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries())
      compare(item, after[index] ?? null, `${path}/${index}`, patch);
  } else if (isObject(before) && isObject(after)) {
    for (const [name, value] of Object.entries(before)) {
      const at = `${path}/${escaped(name)}`;
      if (Object.hasOwn(after, name)) compare(value, after[name] ?? null, at, patch);
      else patch.push({ op: 'remove', path: at });
    }
  } else patch.push({ op: 'replace', path, value: after });
}

/** A member name as a token of JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
