import type { CelType, MemberType } from '../../../../packages/cel/src/index.js';
import { ANY, unionOf } from './variables.js';

type ObjectType = Extract<CelType, { kind: 'object' }>;

/**
 * The type of values of any of some types. Objects become one, with the members of all: an expression may read a member
 * that only some of them have. Unknown if one of them is, or if there are none.
 */
export function mergedType(types: readonly CelType[]): CelType {
  const flat = types.flatMap((type) => (type.kind === 'union' ? type.types : [type]));
  if (flat.length === 0 || flat.some(({ kind }) => kind === 'any')) return ANY;
  const objects = flat.filter((type): type is ObjectType => type.kind === 'object');
  const others = flat.filter(({ kind }) => kind !== 'object');
  return unionOf(objects.length === 0 ? others : [mergedObject(objects), ...others]);
}

function mergedObject(objects: readonly ObjectType[]): CelType {
  const [only] = objects;
  if (only !== undefined && objects.length === 1) return only;
  const found = new Map<string, MemberType[]>();
  for (const { members } of objects) {
    for (const [name, member] of members) {
      const known = found.get(name);
      if (known === undefined) found.set(name, [member]);
      else known.push(member);
    }
  }
  const members = new Map<string, MemberType>();
  for (const [name, all] of found) {
    const description = all.find((member) => member.description !== undefined)?.description;
    members.set(name, {
      type: mergedType(all.map(({ type }) => type)),
      required: all.length === objects.length && all.every(({ required }) => required),
      ...(description === undefined ? {} : { description }),
    });
  }
  return { kind: 'object', members, open: objects.some(({ open }) => open) };
}
