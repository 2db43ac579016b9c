/**
 * A text as rules look at it: small letters without marks, compatibility forms (NFKC) of single characters, line breaks
 * as blanks, and no characters that are not seen.
 */
export interface FoldedText {
  readonly text: string;
  /** Position in the original of each code unit, and its length; null when they are the same. */
  readonly offsets: Int32Array | null;
  /** Runs of characters that are not seen, in the original. */
  readonly unseen: readonly UnseenRun[];
}

/** Characters of one kind that follow each other. */
export interface UnseenRun {
  readonly kind: 'tag' | 'selector' | 'zero_width' | 'override';
  readonly start: number;
  readonly end: number;
}

const ASCII_ONLY = /^[\0-\x7f]*$/;
const encoder = new TextEncoder();
const asciiDecoder = new TextDecoder('latin1');
const unitDecoder = new TextDecoder('utf-16le', { ignoreBOM: true });

const BLANK = 0x20;
const DROPPED = 0;
const FIRST_GREEK = 0x370;
const BEHIND_CYRILLIC = 0x530;

/** Small letters, and blanks for control characters, of ASCII. */
const asciiFold = Uint8Array.from({ length: 128 }, (_, unit) => {
  if (unit < BLANK) return BLANK;
  return unit >= 0x41 && unit <= 0x5a ? unit + 32 : unit;
});

/** Letters of other scripts that look like Latin ones. They are replaced only beside Latin letters. */
const LOOKALIKES = new Map(
  [...'аaеeоoрpсcуyхxіiјjѕsԁdһhοoαaνvρpιiκkтtмmнhвb'].flatMap((unit, at, all) =>
    at % 2 === 0 ? [[unit.charCodeAt(0), (all[at + 1] ?? '').charCodeAt(0)] as const] : [],
  ),
);

let unitFold: Uint16Array | undefined;

/** For each code unit the one that it is folded to, or `DROPPED`. */
function foldTable(): Uint16Array {
  unitFold ??= Uint16Array.from({ length: 0x10000 }, (_, unit) => {
    if (unit < 128) return asciiFold[unit] ?? unit;
    // Hangul syllables would be taken apart; halves of pairs are looked at in pairs.
    if ((unit >= 0xac00 && unit <= 0xdfff) || unit >= 0xfffe) return unit;
    const character = String.fromCharCode(unit);
    if (isMark(unit) || /\p{Default_Ignorable_Code_Point}/u.test(character)) return DROPPED;
    if (/[\s\u0085]/u.test(character)) return BLANK;
    if (/[\u2018\u2019\u201a\u2039\u203a\u00b4]/.test(character)) return 0x27;
    if (/[\u201c-\u201f\u00ab\u00bb]/.test(character)) return 0x22;
    if (/\p{Dash_Punctuation}/u.test(character)) return 0x2d;
    const plain = character
      .normalize('NFKD')
      .replaceAll(/[\u0300-\u036f]/g, '')
      .toLowerCase();
    return plain.length === 1 ? plain.charCodeAt(0) : (character.toLowerCase().charCodeAt(0) ?? unit);
  });
  return unitFold;
}

/** Whether a code unit is one of the marks above and below Latin, Greek and Cyrillic letters. */
function isMark(unit: number): boolean {
  return unit >= 0x300 && unit <= 0x36f;
}

/** Folds a text, in one pass. */
export function foldText(text: string): FoldedText {
  return ASCII_ONLY.test(text) ? foldAscii(text) : foldUnicode(text);
}

function foldAscii(text: string): FoldedText {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = asciiFold[bytes[at] ?? 0] ?? 0;
  return { text: asciiDecoder.decode(bytes), offsets: null, unseen: [] };
}

function foldUnicode(text: string): FoldedText {
  const table = foldTable();
  const units = new Uint16Array(text.length);
  const offsets = new Int32Array(text.length + 1);
  const unseen = new UnseenRuns();
  let length = 0;
  let hasOther = false;
  const put = (unit: number, at: number): void => {
    units[length] = unit;
    offsets[length] = at;
    length += 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if ((unit & 0xfc00) === 0xd800 && at + 1 < text.length) {
      const code = text.codePointAt(at) ?? unit;
      if (code > 0xffff) {
        const plain = foldAstral(code);
        if (plain === DROPPED) unseen.add(code, at, at + 2);
        else if (plain !== undefined) put(plain, at);
        else {
          put(unit, at);
          put(text.charCodeAt(at + 1), at + 1);
        }
        at += 1;
        continue;
      }
    }
    const folded = table[unit] ?? unit;
    if (folded === DROPPED) unseen.add(unit, at, at + 1);
    else {
      hasOther ||= folded >= FIRST_GREEK && folded < BEHIND_CYRILLIC;
      put(folded, at);
    }
  }
  offsets[length] = text.length;
  if (hasOther) replaceLookalikes(units.subarray(0, length));
  return {
    text: unitDecoder.decode(units.subarray(0, length)),
    offsets: offsets.subarray(0, length + 1),
    unseen: unseen.runs(text),
  };
}

/** Replaces letters that look like Latin ones in each row of these and Latin ones that has one of the latter. */
function replaceLookalikes(units: Uint16Array): void {
  let start = 0;
  let isMixed = false;
  for (let at = 0; at <= units.length; at += 1) {
    const unit = units[at];
    if (isLatin(unit)) isMixed = true;
    else if (unit === undefined || !LOOKALIKES.has(unit)) {
      for (let inRow = start; isMixed && inRow < at; inRow += 1) {
        const own = units[inRow] ?? 0;
        units[inRow] = LOOKALIKES.get(own) ?? own;
      }
      start = at + 1;
      isMixed = false;
    }
  }
}

function isLatin(unit: number | undefined): boolean {
  return unit !== undefined && unit >= 0x61 && unit <= 0x7a;
}

const FIRST_MATHEMATICAL = 0x1d400;
const LAST_MATHEMATICAL = 0x1d7ff;
/** Letters and digits of mathematics as plain ones. */
const mathematical = Uint16Array.from({ length: LAST_MATHEMATICAL - FIRST_MATHEMATICAL + 1 }, (_, index) => {
  const plain = String.fromCodePoint(FIRST_MATHEMATICAL + index)
    .normalize('NFKC')
    .toLowerCase();
  return plain.length === 1 ? plain.charCodeAt(0) : 0;
});

/** Letters of mathematics and of squares as plain ones, `DROPPED` for what is not seen, undefined for all others. */
function foldAstral(code: number): number | undefined {
  if (code >= 0xe0000 && code <= 0xe0fff) return DROPPED;
  if (code >= FIRST_MATHEMATICAL && code <= LAST_MATHEMATICAL) {
    return mathematical[code - FIRST_MATHEMATICAL] || undefined;
  }
  for (const first of [0x1f130, 0x1f150, 0x1f170]) {
    if (code >= first && code < first + 26) return code - first + 0x61;
  }
  return undefined;
}

/** Collects characters that are not seen, runs of one kind together. */
class UnseenRuns {
  readonly #runs: { kind: UnseenRun['kind']; start: number; end: number }[] = [];

  add(code: number, start: number, end: number): void {
    const kind = kindOfUnseen(code);
    if (kind === undefined) return;
    const last = this.#runs.at(-1);
    if (last?.kind === kind && last.end === start) last.end = end;
    else this.#runs.push({ kind, start, end });
  }

  /** All runs but those of flags: a black flag with up to six tags behind it. */
  runs(text: string): readonly UnseenRun[] {
    return this.#runs.filter(
      ({ kind, start, end }) =>
        !(kind === 'tag' && end - start <= 14 && start >= 2 && text.codePointAt(start - 2) === 0x1f3f4),
    );
  }
}

function kindOfUnseen(code: number): UnseenRun['kind'] | undefined {
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag';
  if (code >= 0xe0100 && code <= 0xe01ef) return 'selector';
  if (code === 0x202d || code === 0x202e) return 'override';
  if ((code >= 0x200b && code <= 0x200d) || (code >= 0x2060 && code <= 0x2064) || code === 0xfeff)
    return 'zero_width';
  return undefined;
}
