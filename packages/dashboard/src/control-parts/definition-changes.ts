import type { JsonObject } from '@bufbuild/protobuf';
import { isJsonObject, isSameJson, ownMember } from '../code/json-members.js';

type Path = readonly (string | number)[];

/** A member that differs between two definitions. */
export interface MemberChange {
  /** For example `condition.and[1].evaluator.config.pattern`. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** The value as compact JSON; absent if it was added. */
  readonly before?: string;
  /** The value as compact JSON; absent if it was removed. */
  readonly after?: string;
}

/** The members in which two JSON values differ, in the order of the values. Empty if and only if they are equal. */
export function memberChanges(before: unknown, after: unknown): MemberChange[] {
  const found: MemberChange[] = [];
  compare(before, after, [], found);
  return found;
}

function compare(before: unknown, after: unknown, path: Path, found: MemberChange[]): void {
  if (isSameJson(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, found);
  else if (isJsonObject(before) && isJsonObject(after)) compareObjects(before, after, path, found);
  else found.push(changeOf(before, after, path));
}

function compareObjects(before: JsonObject, after: JsonObject, path: Path, found: MemberChange[]): void {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) {
    compare(ownMember(before, name), ownMember(after, name), [...path, name], found);
  }
}

/** Equal items at the start and at the end stay as they are; those between are compared by their position. */
function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Path,
  found: MemberChange[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSameJson(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSameJson(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const length = Math.max(before.length, after.length) - end;
  for (let index = start; index < length; index += 1) {
    const old = index < before.length - end ? before[index] : undefined;
    const next = index < after.length - end ? after[index] : undefined;
    compare(old, next, [...path, index], found);
  }
}

function changeOf(before: unknown, after: unknown, path: Path): MemberChange {
  return {
    path: pathText(path),
    kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    ...(before === undefined ? {} : { before: JSON.stringify(before) }),
    ...(after === undefined ? {} : { after: JSON.stringify(after) }),
  };
}

function pathText(path: Path): string {
  if (path.length === 0) return '(everything)';
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      if (!/^[A-Za-z_]\w*$/.test(part)) return `[${JSON.stringify(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join('');
}
