import type { SelectNode } from './ast.js';
import { nearest, type ProblemList } from './problem.js';
import { ANY, STRING } from './signatures.js';
import { alternatives, typeName, unionOf } from './type-relations.js';
import type { CelType } from './types.js';

/** The type of what a macro visits: the items of a list, the keys of a map. Null for what has none. */
export function itemOf(type: CelType): CelType | null {
  const items = alternatives(type).flatMap((one): CelType[] => {
    if (one.kind === 'any') return [ANY];
    if (one.kind === 'list') return [one.item];
    return one.kind === 'map' || one.kind === 'object' ? [STRING] : [];
  });
  return items.length === 0 ? null : unionOf(items);
}

/** The type of the index of a list, or key of a map. Null for what has none. */
export function keyOf(type: CelType): CelType | null {
  const keys = alternatives(type).flatMap((one): CelType[] => {
    if (one.kind === 'any') return [ANY];
    if (one.kind === 'list') return [{ kind: 'int' }];
    return one.kind === 'map' || one.kind === 'object' ? [STRING] : [];
  });
  return keys.length === 0 ? null : unionOf(keys);
}

/** The type of the items of a list, or of the values of a map. */
export function valueTypeOf(type: CelType): CelType {
  const values = alternatives(type).flatMap((one): CelType[] => {
    if (one.kind === 'list') return [one.item];
    if (one.kind === 'map') return [one.value];
    if (one.kind !== 'object' || one.open) return [ANY];
    return [...one.members.values()].map((member) => member.type);
  });
  return unionOf(values);
}

/** The type of a member, with a problem if no object of the type has it. */
export function memberType(
  node: Pick<SelectNode, 'field' | 'fieldSpan'>,
  owner: CelType,
  problems: ProblemList,
): CelType {
  const { field, fieldSpan } = node;
  const known: string[] = [];
  const found: CelType[] = [];
  let hasMembers = false;
  for (const one of alternatives(owner)) {
    if (one.kind === 'any') return ANY;
    if (one.kind === 'map') found.push(one.value);
    if (one.kind !== 'object') continue;
    hasMembers = true;
    const member = one.members.get(field);
    if (member !== undefined) found.push(member.type);
    else if (one.open) found.push(ANY);
    known.push(...one.members.keys());
  }
  if (found.length > 0) return unionOf(found);
  if (hasMembers) {
    const suggestion = nearest(field, known);
    const hint = suggestion === null ? '' : `; did you mean ${quoted(suggestion)}?`;
    problems.add('unknown_member', fieldSpan, `there is no member ${quoted(field)}${hint}`, suggestion);
  } else {
    const hint = owner.kind === 'list' ? '; use [0], exists or all' : '';
    problems.add('type', fieldSpan, `${typeName(owner)} has no members${hint}`);
  }
  return ANY;
}

/** A name as messages quote it. */
export function quoted(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…`.toWellFormed() : name;
}
