import { isUtf8 } from 'node:buffer';

/** Shortest run that is decoded. */
const MIN_RUN = 16;
/** By code unit, whether base64, base64url and hexadecimal digits have it. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, unit) =>
  /[\w+/-]/.test(String.fromCharCode(unit)) ? 1 : 0,
);
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
  const isIn = (at: number): boolean => IN_RUN[text.charCodeAt(at)] === 1;
  for (let at = MIN_RUN - 1, from = 0; at < text.length; at += MIN_RUN) {
    if (!isIn(at)) continue;
    let start = at;
    let end = at + 1;
    while (start > from && isIn(start - 1)) start -= 1;
    while (isIn(end)) end += 1;
    if (end - start >= MIN_RUN) {
      for (let sign = 0; sign < 2 && text[end] === '='; sign += 1) end += 1;
      yield { run: text.slice(start, end), start, end };
    }
    from = end;
    at = end - 1;
  }
}

/** The texts that such a run may encode: most encode none. */
export function decodedTexts(run: string): string[] {
  const bytes = [Buffer.from(run, 'base64')];
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
