/**
 * Size of a filter in bits, a power of two: sixteen for each event of a segment. About one unknown id in two thousand
 * passes.
 */
const BITS = 2 ** 23;
const HASHES = 7;

/** Two hashes of an id; all others are sums of them. */
export type IdHash = readonly [one: number, other: number];

/** A Bloom filter of the ids of a closed segment: tells for certain that an id is not in it. */
export class IdFilter {
  readonly #words: Uint32Array;

  constructor(words = new Uint32Array(BITS / 32)) {
    this.#words = words;
  }

  /** Reads the text of `toText`. Throws for any other text. */
  static fromText(text: string): IdFilter {
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length !== BITS / 8) throw new Error('a filter of ids has the wrong length');
    const words = new Uint32Array(BITS / 32);
    for (let index = 0; index < words.length; index += 1) words[index] = bytes.readUInt32LE(index * 4);
    return new IdFilter(words);
  }

  toText(): string {
    const bytes = Buffer.alloc(BITS / 8);
    for (const [index, word] of this.#words.entries()) bytes.writeUInt32LE(word, index * 4);
    return bytes.toString('base64');
  }

  add(id: string): void {
    const [one, other] = hashOfId(id);
    for (let index = 0, bit = one; index < HASHES; index += 1, bit += other) {
      const at = (bit & (BITS - 1)) >>> 5;
      this.#words[at] = (this.#words[at] ?? 0) | (1 << (bit & 31));
    }
  }

  /** False when no added id has this hash. */
  mayHave([one, other]: IdHash): boolean {
    for (let index = 0, bit = one; index < HASHES; index += 1, bit += other) {
      if (((this.#words[(bit & (BITS - 1)) >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }
}

/** Stored filters depend on it: it must stay the same. */
export function hashOfId(id: string): IdHash {
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let index = 0; index < id.length; index += 1) {
    const unit = id.charCodeAt(index);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b) + index;
  }
  return [mixed(one), mixed(other) | 1];
}

/** Each bit of the result depends on all bits of the number. */
function mixed(number: number): number {
  const once = Math.imul(number ^ (number >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return (twice ^ (twice >>> 16)) >>> 0;
}
