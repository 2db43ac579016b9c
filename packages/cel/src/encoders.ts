import { define, type FunctionDefinition } from './signatures.js';
import { CelBytes, Fault } from './values.js';

const NO_BASE64 = new Fault('the text is no base64');
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...ALPHABET].map((character, index) => [character.charCodeAt(0), index]));
const PADDING = '='.charCodeAt(0);

/** Base64 of RFC 4648, the extension `encoders` of cel-go: padding may be absent. */
export const ENCODERS: readonly FunctionDefinition[] = [
  define('base64::encode(bytes): string', 'Bytes as base64.', (run, value) => {
    if (!(value instanceof CelBytes)) return undefined;
    const { bytes } = value;
    run.makeText(bytes.length * 2);
    run.spend(bytes.length);
    let text = '';
    for (let at = 0; at < bytes.length; at += 3) {
      const left = bytes.length - at;
      const bits = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      text += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63);
      text += left > 1 ? ALPHABET.charAt((bits >> 6) & 63) : '=';
      text += left > 2 ? ALPHABET.charAt(bits & 63) : '=';
    }
    return text;
  }),
  define('base64::decode(string): bytes', 'The bytes of base64.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.makeText(text.length);
    run.spend(text.length);
    let end = text.length;
    while (end > 0 && text.length - end < 2 && text.charCodeAt(end - 1) === PADDING) end -= 1;
    if (end % 4 === 1 || (end < text.length && text.length % 4 !== 0)) return NO_BASE64;
    const bytes = new Uint8Array(Math.floor((end * 3) / 4));
    let bits = 0;
    let length = 0;
    for (let at = 0; at < end; at += 1) {
      const value = VALUES.get(text.charCodeAt(at));
      if (value === undefined) return NO_BASE64;
      bits = ((bits << 6) | value) & 0xffffff;
      if (at % 4 === 0) continue;
      bytes[length] = (bits >> (6 - 2 * (at % 4))) & 255;
      length += 1;
    }
    return new CelBytes(bytes);
  }),
];
