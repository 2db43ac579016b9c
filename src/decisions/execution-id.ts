import { randomFillSync } from 'node:crypto';

/** Number of ids whose random bytes are drawn together. */
const IDS_AT_ONCE = 128;
const ID_BYTES = 16;

/** Positions of the two digits of each byte in the text (RFC 9562, section 4). */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const DIGITS = Buffer.from('0123456789abcdef');

/**
 * Creates random UUIDs (version 4), like `randomUUID` of Node.js. That returns a tree of twenty short texts,
 * and flattening it, when the id is written, costs as much again; a verdict may have an id for each of many
 * controls.
 */
export function createExecutionIds(): () => string {
  const random = Buffer.allocUnsafeSlow(IDS_AT_ONCE * ID_BYTES);
  const text = Buffer.alloc(36, '-');
  let at = random.length;
  return () => {
    if (at === random.length) {
      randomFillSync(random);
      at = 0;
    }
    for (let index = 0; index < ID_BYTES; index += 1) {
      let byte = random[at + index] as number;
      if (index === 6) byte = (byte & 0x0f) | 0x40;
      else if (index === 8) byte = (byte & 0x3f) | 0x80;
      const place = PLACES[index] as number;
      text[place] = DIGITS[byte >> 4] as number;
      text[place + 1] = DIGITS[byte & 0x0f] as number;
    }
    at += ID_BYTES;
    return text.toString('latin1');
  };
}
