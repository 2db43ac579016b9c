import type { SearchTexts } from './search-texts.js';

/** Longest text that is normalised, in UTF-16 code units, unless it is ASCII: the worst one takes some 50 ms. */
export const MAX_NORMALIZED_LENGTH = 250_000;

const ASCII_ONLY = /^[\0-\x7f]*$/;
/**
 * What is not seen, by the property of Unicode that stands for it: zero-width spaces and joiners, byte order marks, soft
 * hyphens, marks of the direction of writing, variation selectors, tags, fillers.
 */
const UNSEEN = /\p{Default_Ignorable_Code_Point}+/gu;
/**
 * A combining mark behind as many as a sequence may have (UAX #15, Stream-Safe Text Format): longer ones are divided,
 * because putting them in order takes the square of their length.
 */
const LONG_SEQUENCE = /(\p{Mark}{30})(?=\p{Mark})/gu;
const DIVIDER = '\u034f';

/**
 * A text in the form NFKC, without the characters that are not seen. Throws for a text that is too long, unless it is
 * ASCII, which stays as it is.
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

/** As `normalizeText`; several checks of one step often look at the same text. */
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
  // What JSON escapes is ASCII or half of a surrogate pair: when the JSON text is ASCII, so is everything in it.
  if (json === texts.json && ASCII_ONLY.test(json)) return texts;
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

  /** Other texts than ASCII could be put together with what stands beside them in the JSON text. */
  get hidden(): readonly string[] {
    if (this.#hidden === undefined) {
      const { values, names, hidden } = this.#texts;
      const isOther = (text: string) => !ASCII_ONLY.test(text);
      this.#hidden = [...hidden, ...values.filter(isOther), ...names.filter(isOther)].map(normalizeText);
    }
    return this.#hidden;
  }
}
