import { isObject, type JsonValue } from './json-value.js';

/**
 * Names of members that a protocol defines at a place, with those below it; null for data that have any names. Of a list, each item
 * is at the place of the list. Names are of ASCII.
 */
export interface ProtocolNames {
  readonly [name: string]: ProtocolNames | null;
}

/** Names below which data have any names, and others with what is below them. */
export const protocolNames = (free: string, others: ProtocolNames = {}): ProtocolNames => ({
  ...Object.fromEntries(free.split(' ').map((name) => [name, null])),
  ...others,
});

/** A member whose name some readers take for one of the protocol. */
export interface FoldedName {
  /** Path of the member of the protocol, such as `params.name`. */
  readonly path: string;
  /** As it is written. */
  readonly written: string;
}

/** What is wrong with such a member. */
export const inOtherCase = ({ written }: FoldedName): string =>
  `is written ${JSON.stringify(written.slice(0, 100))}, with another case of its letters: readers differ in whether it counts`;

/** Names that are the same for readers that ignore case, by simple case folding of Unicode (CaseFolding.txt, C and S). */
export function folded(name: string): string {
  // Two characters beyond ASCII fold to letters of it: the long s and the sign of the kelvin.
  return name.toLowerCase().replaceAll('\u017f', 's').replaceAll('\u212a', 'k');
}

/** The first member of a value that has a name of the protocol in another case; undefined if there is none. */
export function foldedName(
  value: JsonValue | undefined,
  names: ProtocolNames,
  place = '',
): FoldedName | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = foldedName(item, names, place === '' ? '' : `${place}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const known = knownOf(names);
  for (const [written, member] of Object.entries(value)) {
    const name = known.get(folded(written));
    if (name === undefined) continue;
    const path = place === '' ? name : `${place}.${name}`;
    if (written !== name) return { path, written };
    const below = names[name];
    const found = below == null ? undefined : foldedName(member, below, path);
    if (found !== undefined) return found;
  }
  return undefined;
}

const known = new WeakMap<ProtocolNames, ReadonlyMap<string, string>>();

/** The names by what they fold to. */
function knownOf(names: ProtocolNames): ReadonlyMap<string, string> {
  const found = known.get(names);
  if (found !== undefined) return found;
  const made = new Map(Object.keys(names).map((name) => [folded(name), name]));
  known.set(names, made);
  return made;
}
