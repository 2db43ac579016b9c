import { JsonUndecodableError } from './json-errors.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const utf16le = new TextDecoder('utf-16le', { fatal: true });
const utf16be = new TextDecoder('utf-16be', { fatal: true });

/**
 * The text of JSON bytes in UTF-8, UTF-16 or UTF-32, without its byte order mark. Without a mark the encoding
 * is detected from the null bytes around the first two characters, which are ASCII in any JSON text (RFC
 * 4627, section 3). Throws a JsonUndecodableError on bytes that are invalid in their encoding.
 */
export function decodeJsonText(bytes: Uint8Array): string {
  try {
    return decode(bytes);
  } catch (error) {
    if (error instanceof JsonUndecodableError) throw error;
    throw new JsonUndecodableError('the bytes are not text in UTF-8, UTF-16 or UTF-32');
  }
}

function decode(bytes: Uint8Array): string {
  const [a, b, c, d] = bytes;
  // The mark of UTF-32LE begins with that of UTF-16LE, so the longer ones come first.
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return decodeUtf32(bytes, true);
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return decodeUtf32(bytes, false);
  if (a === 0xff && b === 0xfe) return utf16le.decode(bytes);
  if (a === 0xfe && b === 0xff) return utf16be.decode(bytes);
  if (bytes.length >= 4) {
    if (a === 0) return b === 0 ? decodeUtf32(bytes, false) : utf16be.decode(bytes);
    if (b === 0) return c === 0 && d === 0 ? decodeUtf32(bytes, true) : utf16le.decode(bytes);
  } else if (bytes.length === 2) {
    if (a === 0) return utf16be.decode(bytes);
    if (b === 0) return utf16le.decode(bytes);
  }
  return utf8.decode(bytes);
}

/** Code points converted to text per call, to keep the argument list short. */
const CHUNK = 4_096;

function decodeUtf32(bytes: Uint8Array, littleEndian: boolean): string {
  if (bytes.length % 4 !== 0) throw new JsonUndecodableError('the bytes end inside a UTF-32 character');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  let chunk: number[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const codePoint = view.getUint32(at, littleEndian);
    if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
      throw new JsonUndecodableError('the bytes hold a number that is no Unicode character');
    }
    if (at === 0 && codePoint === 0xfeff) continue;
    chunk.push(codePoint);
    if (chunk.length === CHUNK) {
      parts.push(String.fromCodePoint(...chunk));
      chunk = [];
    }
  }
  parts.push(String.fromCodePoint(...chunk));
  return parts.join('');
}
