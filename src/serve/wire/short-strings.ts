/** Cache entries for strings; a power of two. At most 40 characters each: about 100 KB. */
const PLACES = 1024;
/** FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), 32 bits. */
const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Caches short ASCII strings by their bytes: agent names, step types, tool names and object keys repeat, and
 * a lookup takes a third of the time of creating a string. A new string replaces another one; entries are
 * compared on lookup, so that crafted bytes can make it slower but never wrong.
 */
export class ShortStrings {
  readonly #places: (string | undefined)[] = new Array(PLACES).fill(undefined);

  /** The string from `from` to `to`; undefined if it is not ASCII. */
  ascii(bytes: Buffer, from: number, to: number): string | undefined {
    let hash = OFFSET_BASIS;
    let bits = 0;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] as number;
      bits |= byte;
      hash = Math.imul(hash ^ byte, PRIME);
    }
    if (bits > 0x7f) return undefined;
    const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
    const found = this.#places[place];
    if (found !== undefined && isAt(found, bytes, from, to)) return found;
    const made = bytes.toString('latin1', from, to);
    this.#places[place] = made;
    return made;
  }
}

function isAt(text: string, bytes: Buffer, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let at = from; at < to; at += 1) {
    if (text.charCodeAt(at - from) !== bytes[at]) return false;
  }
  return true;
}
