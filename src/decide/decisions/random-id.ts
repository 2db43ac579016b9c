import { randomFillSync } from 'node:crypto';

/** Number of ids whose random bytes are drawn together: for 128 each costs three times as much. */
const IDS_AT_ONCE = 512;
const ID_BYTES = 16;
const TEXT_LENGTH = 36;

const HYPHEN = 0x2d;
/** The two hexadecimal digits of each byte, the first one in the low bits. */
const DIGITS = Uint16Array.from({ length: 256 }, (_, byte) => digit(byte >> 4) | (digit(byte & 15) << 8));

function digit(value: number): number {
  return value.toString(16).charCodeAt(0);
}

/**
 * A random UUID (version 4). Its text is made when it is needed: most verdicts are written as bytes, or without their
 * id.
 */
export class RandomId {
  /** Bytes of the text. */
  readonly length = TEXT_LENGTH;
  readonly #random: Uint8Array;
  readonly #at: number;

  constructor(random: Uint8Array, at: number) {
    this.#random = random;
    this.#at = at;
  }

  /** Writes the text in ASCII (RFC 9562, section 4). */
  write(target: Uint8Array, at: number): void {
    const random = this.#random;
    const from = this.#at;
    let place = at;
    for (let index = 0; index < ID_BYTES; index += 1) {
      if (index === 4 || index === 6 || index === 8 || index === 10) target[place++] = HYPHEN;
      let byte = random[from + index] as number;
      if (index === 6) byte = (byte & 0x0f) | 0x40;
      else if (index === 8) byte = (byte & 0x3f) | 0x80;
      const digits = DIGITS[byte] as number;
      target[place] = digits & 0xff;
      target[place + 1] = digits >> 8;
      place += 2;
    }
  }

  toString(): string {
    this.write(text, 0);
    return text.toString('latin1');
  }
}

const text = Buffer.alloc(TEXT_LENGTH);

/** Creates random ids. Those that are kept hold the random bytes of others, 8 KiB in all. */
export function createRandomIds(): () => RandomId {
  let random = new Uint8Array(0);
  let at = 0;
  return () => {
    if (at === random.length) {
      random = randomFillSync(new Uint8Array(IDS_AT_ONCE * ID_BYTES));
      at = 0;
    }
    const made = new RandomId(random, at);
    at += ID_BYTES;
    return made;
  };
}
