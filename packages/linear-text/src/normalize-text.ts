/**
 * The texts of an object or a list that a check searches: its compact JSON text, every string value and every
 * member name in it, at any depth, each verbatim.
 */
export interface SearchTexts {
  /** The compact JSON text. */
  readonly json: string;
  /** The string values, in the order of the data. */
  readonly values: readonly string[];
  /** The names of members, in the order of the data, duplicates included. */
  readonly names: readonly string[];
  /**
   * Values and names that are escaped in the JSON text, and other forms of them. All others occur verbatim in the JSON text, between
   * two quotes: a search without `^` and `$` that matches in one of them also matches in the JSON text,
   * because a quote is not a word character, like the end of a text.
   */
  readonly hidden: readonly string[];
}

/** Longest text that is normalised, in UTF-16 code units, except ASCII: the worst case takes some 50 ms. */
export const MAX_NORMALIZED_LENGTH = 250_000;

const ASCII_ONLY = /^[\0-\x7f]*$/;
/**
 * Invisible characters, by their Unicode property: zero-width spaces and joiners, byte order marks, soft
 * hyphens, marks of writing direction, variation selectors, tags, fillers.
 */
const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;
/**
 * A combining mark after the maximum of a sequence (UAX #15, Stream-Safe Text Format): longer sequences are
 * split, because ordering them takes quadratic time.
 */
const LONG_SEQUENCE = /(\p{Mark}{30})(?=\p{Mark})/gu;
const DIVIDER = '\u034f';

/**
 * A text in NFKC form, without invisible characters. Throws for a text that is too long, unless it is ASCII,
 * which is unchanged.
 */
export function normalizeText(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  if (text.length > MAX_NORMALIZED_LENGTH) {
    throw new Error(`a text of ${text.length} characters is too long to be normalised`);
  }
  const seen = text.replace(UNSEEN, '');
  return seen.replace(LONG_SEQUENCE, `$1${DIVIDER}`).normalize('NFKC').replaceAll(DIVIDER, '');
}

let lastText = '';
let lastNormalized = '';

/** Like `normalizeText`, cached: several checks of one step often use the same text. */
export function normalizeOnce(text: string): string {
  if (text !== lastText) {
    lastNormalized = normalizeText(text);
    lastText = text;
  }
  return lastNormalized;
}

/** The same texts, normalised. Throws when they are too long. */
export function normalizeTexts(texts: SearchTexts): SearchTexts {
  const json = normalizeText(texts.json);
  // Escaped characters are ASCII or surrogates: if the JSON text is ASCII, so are all texts in it, but not their other forms.
  const isAscii = (text: string) => ASCII_ONLY.test(text);
  if (json === texts.json && isAscii(json) && texts.hidden.every(isAscii)) return texts;
  return new NormalizedTexts(json, texts);
}

class NormalizedTexts implements SearchTexts {
  readonly json: string;
  readonly #texts: SearchTexts;
  #values: readonly string[] | undefined;
  #names: readonly string[] | undefined;
  #hidden: readonly string[] | undefined;

  constructor(json: string, texts: SearchTexts) {
    this.json = json;
    this.#texts = texts;
  }

  get values(): readonly string[] {
    this.#values ??= this.#texts.values.map(normalizeText);
    return this.#values;
  }

  get names(): readonly string[] {
    this.#names ??= this.#texts.names.map(normalizeText);
    return this.#names;
  }

  /** Texts other than ASCII could be composed with their neighbours in the JSON text. */
  get hidden(): readonly string[] {
    if (this.#hidden === undefined) {
      const { values, names, hidden } = this.#texts;
      const isOther = (text: string) => !ASCII_ONLY.test(text);
      this.#hidden = [...hidden, ...values.filter(isOther), ...names.filter(isOther)].map(normalizeText);
    }
    return this.#hidden;
  }
}
