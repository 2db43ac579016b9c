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
  if (areEqual(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, found);
  else if (isObject(before) && isObject(after)) compareObjects(before, after, path, found);
  else found.push(changeOf(before, after, path));
}

function compareObjects(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: Path,
  found: MemberChange[],
): void {
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
  while (start < shorter && areEqual(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && areEqual(before.at(-1 - end), after.at(-1 - end))) end += 1;
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

/** Names such as `__proto__` and `toString` are ordinary members. */
function ownMember(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two values are equal, whatever the order of their members. */
function areEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => areEqual(item, right[index]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && areEqual(left[name], right[name]))
  );
}
