import {
  isContainer,
  isObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { normalizeTexts, type SearchTexts } from '../../../packages/linear-text/src/index.js';
import { otherForms } from './other-forms.js';

/** Characters that JSON escapes, and some control characters that it does not, which only cost time. */
const ESCAPED = /["\\\p{Control}\p{Surrogate}]/u;

/** The texts of one selected value, created on first access and then cached. */
export class DataTexts implements SearchTexts {
  readonly #data: JsonValue[] | JsonObject;
  #json: string | undefined;
  #values: string[] | undefined;
  #names: string[] = [];
  #hidden: readonly string[] | undefined;
  #items: readonly ItemTexts[] | undefined;
  #normalized: SearchTexts | undefined;

  constructor(data: JsonValue[] | JsonObject) {
    this.#data = data;
  }

  get json(): string {
    this.#json ??= stringifyJson(this.#data);
    return this.#json;
  }

  get values(): readonly string[] {
    return this.#values ?? this.#collect();
  }

  get names(): readonly string[] {
    if (this.#values === undefined) this.#collect();
    return this.#names;
  }

  get hidden(): readonly string[] {
    this.#hidden ??= this.#findHidden();
    return this.#hidden;
  }

  /** The texts of each item of a list; empty for an object. */
  get items(): readonly ItemTexts[] {
    this.#items ??= Array.isArray(this.#data) ? this.#data.map(itemTexts) : [];
    return this.#items;
  }

  /** The same texts, normalised. Throws when they are too long to normalise. */
  get normalized(): SearchTexts {
    this.#normalized ??= normalizeTexts(this);
    return this.#normalized;
  }

  #findHidden(): readonly string[] {
    // Nearly all data have no escapes; nothing to collect then.
    if (!this.json.includes('\\')) return NONE;
    const isHidden = (text: string) => ESCAPED.test(text);
    const texts = [...this.values.filter(isHidden), ...this.names.filter(isHidden)];
    return texts.flatMap((text) => [text, ...otherForms(text)]);
  }

  #collect(): readonly string[] {
    const values: string[] = [];
    const names = this.#names;
    // Recursion is as deep as the data, whose depth is bounded on input.
    const visit = (value: JsonValue): void => {
      if (typeof value === 'string') values.push(value);
      else if (Array.isArray(value)) for (const item of value) visit(item);
      else if (isObject(value)) {
        for (const name of Object.keys(value)) {
          names.push(name);
          visit(value[name] as JsonValue);
        }
      }
    };
    visit(this.#data);
    this.#values = values;
    return values;
  }
}

/** The text of a string, number, boolean or null; or the texts of an object or a list. */
export type ItemTexts = string | DataTexts;

const NONE: readonly string[] = [];

function itemTexts(item: JsonValue): ItemTexts {
  return isContainer(item) ? new DataTexts(item) : textOf(item);
}

/** The texts of the selected data of one evaluation, each created once for all checks of the same data. */
export class TextCache {
  /** The last requested data: checks of the same data mostly follow one another. */
  #data: object | null = null;
  #texts: DataTexts | null = null;
  readonly #others = new Map<object, DataTexts>();

  /** The texts of an object or a list. */
  of(data: JsonValue[] | JsonObject): DataTexts {
    if (this.#texts !== null) {
      if (data === this.#data) return this.#texts;
      if (this.#data !== null) this.#others.set(this.#data, this.#texts);
    }
    this.#data = data;
    this.#texts = this.#others.get(data) ?? new DataTexts(data);
    return this.#texts;
  }

  clear(): void {
    if (this.#texts === null) return;
    this.#data = null;
    this.#texts = null;
    if (this.#others.size > 0) this.#others.clear();
  }
}

/**
 * The text that `regex` and `list` match against: strings unchanged, everything else as compact JSON,
 * integers of any size with all their digits.
 */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
