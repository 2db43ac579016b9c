import { isUtf8 } from 'node:buffer';

/** Shortest run that is decoded. */
const MIN_RUN = 16;
/** By code unit, the value of a digit of base64 or base64url; 64 for what is none. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, unit) => {
  const sign = String.fromCharCode(unit).replace('-', '+').replace('_', '/');
  const value = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.indexOf(sign);
  return value === -1 ? 64 : value;
});
/** Code units of a run that are looked at before it is decoded. */
const LOOKED_AT = 24;
const HEX_PAIRS = /^(?:[0-9a-fA-F]{2})+$/;
/** What texts do not contain. */
const CONTROL = /[^\P{Cc}\t\r\n]/u;

/** A run that may be base64 or base64url of a text, or its bytes in hexadecimal. */
interface EncodedRun {
  readonly run: string;
  readonly start: number;
  readonly end: number;
}

/** All such runs of a text. Of most texts, it looks at some of the characters only: a run contains one of each sixteen. */
export function* encodedRuns(text: string): Generator<EncodedRun> {
  for (let at = MIN_RUN - 1, from = 0; at < text.length; at += MIN_RUN) {
    if (!isDigit(text, at)) continue;
    let start = at;
    let end = at + 1;
    while (start > from && isDigit(text, start - 1)) start -= 1;
    while (isDigit(text, end)) end += 1;
    if (end - start >= MIN_RUN) {
      for (let sign = 0; sign < 2 && text[end] === '='; sign += 1) end += 1;
      yield { run: text.slice(start, end), start, end };
    }
    from = end;
    at = end - 1;
  }
}

function isDigit(text: string, at: number): boolean {
  return (DIGITS[text.charCodeAt(at)] ?? 64) < 64;
}

/** Whether the first bytes that a run encodes in base64 can be those of a text. Words hardly ever pass: decoding takes a microsecond. */
function beginsAsText(run: string): boolean {
  let bits = 0;
  let last = 0;
  for (let at = 0; at < LOOKED_AT && at < run.length; at += 1) {
    const value = DIGITS[run.charCodeAt(at)] ?? 64;
    if (value === 64) return true;
    bits = (bits << 6) | value;
    if (at % 4 === 0) continue;
    const byte = (bits >> (6 - 2 * (at % 4))) & 0xff;
    const isControl = byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13;
    const isContinued = last >= 0xc2;
    if (isControl || (byte < 0x80 ? isContinued : byte < 0xc2 && last < 0x80)) return false;
    last = byte;
    bits &= 0xffff;
  }
  return true;
}

/** The texts that such a run may encode: most encode none. */
export function decodedTexts(run: string): string[] {
  const bytes = beginsAsText(run) ? [Buffer.from(run, 'base64')] : [];
  if (HEX_PAIRS.test(run)) bytes.push(Buffer.from(run, 'hex'));
  return bytes.flatMap((one) => {
    const text = textOf(one);
    return text === null || CONTROL.test(text) ? [] : [text];
  });
}

/** Null for bytes that are no text. */
export function textOf(bytes: Uint8Array): string | null {
  return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : null;
}
