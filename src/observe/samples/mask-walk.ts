import {
  isObject,
  JsonDuplicateError,
  type JsonObject,
  JsonTooDeepError,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { MASK } from '../../contract/secrets/mask-credentials.js';
import { secretMembersOf } from '../../contract/secrets/mask-members.js';
import { isSecretName } from '../../contract/secrets/secret-names.js';
import { unescaped, withoutEncoded } from './text-forms.js';
import type { TextMask } from './text-masking.js';

/** Texts inside of texts that are searched, and rounds of resolving escapes: of what is deeper nothing is kept. */
const MAX_LEVELS = 8;
const MAY_BE_JSON = /^\s*[[{"]/;
/** An option of a command, or a name before its value in a list. */
const OPTION = /^-{0,2}([\w-]{2,200})$/;

/** Masks values with everything that they contain, in whatever form. */
export class MaskWalk {
  /** Number of values, and names of members, that were replaced or changed. */
  count = 0;
  readonly #mask: TextMask;
  readonly #hidden: (text: string) => void;

  /** `hidden` receives the texts of what is replaced because of its name. */
  constructor(mask: TextMask, hidden: (text: string) => void) {
    this.#mask = mask;
    this.#hidden = hidden;
  }

  /** `levels`: of texts around it. */
  value(value: JsonValue, place: string, levels = 0): JsonValue {
    if (typeof value === 'string') return this.text(value, place, levels);
    if (Array.isArray(value)) return this.#items(value, place, levels);
    if (isObject(value)) return this.object(value, place, levels);
    if (value === null || typeof value === 'boolean') return value;
    // A number may be that of a card.
    const digits = String(value);
    if (this.#mask.text(digits, place) === digits) return value;
    this.count += 1;
    return MASK;
  }

  object(value: JsonObject, place: string, levels = 0): JsonObject {
    const isSecret = secretMembersOf(value);
    const masked = new Map<string, JsonValue>();
    for (const [name, member] of Object.entries(value)) {
      const key = freeName(this.text(name, place, levels), masked);
      const kept = isSecret(name) ? this.#hide(member) : this.value(member, `${place}/${name}`, levels);
      masked.set(key, kept);
    }
    // A member may be named __proto__.
    return Object.fromEntries(masked);
  }

  text(text: string, place: string, levels = 0): string {
    const masked = this.#json(text, place, levels) ?? this.#plain(text, place, levels);
    if (masked === text) return text;
    this.count += 1;
    return masked;
  }

  #items(items: readonly JsonValue[], place: string, levels: number): JsonValue[] {
    return items.map((item, at) => {
      const before = at === 0 ? null : (items[at - 1] ?? null);
      const option = typeof before === 'string' ? OPTION.exec(before)?.[1] : undefined;
      if (option !== undefined && isSecretName(option)) return this.#hide(item);
      return this.value(item, `${place}/${at}`, levels);
    });
  }

  /** A text that is JSON, masked as the value that it contains; null for another one. */
  #json(text: string, place: string, levels: number): string | null {
    if (!MAY_BE_JSON.test(text)) return null;
    let nested: JsonValue;
    let isWhole = true;
    try {
      nested = parseJson(text, { duplicates: 'refuse', anySize: true });
    } catch (error) {
      if (error instanceof JsonTooDeepError) return MASK;
      if (!(error instanceof JsonDuplicateError)) return null;
      // The first ones of equal names are in no value: only what was searched is printed.
      isWhole = false;
      nested = parseJson(text, { duplicates: 'last', anySize: true });
    }
    if (levels >= MAX_LEVELS) return MASK;
    const before = this.count;
    const masked = this.value(nested, place, levels + 1);
    const printed = isWhole && this.count === before ? text : stringifyJson(masked);
    this.count = before;
    // A pattern may match more than one member.
    return this.#mask.json(printed);
  }

  /** Without what is written in it, and what it says in other forms. */
  #plain(text: string, place: string, levels: number): string {
    let kept = this.#mask.text(text, place);
    let plain = kept;
    for (let round = 0; ; round += 1) {
      const next = unescaped(plain);
      if (next === plain) break;
      if (round === MAX_LEVELS) return MASK;
      plain = this.#mask.text(next, place);
      if (plain !== next) kept = plain;
    }
    return withoutEncoded(kept, (decoded) => {
      if (levels >= MAX_LEVELS) return MASK;
      const before = this.count;
      const masked = this.text(decoded, place, levels + 1);
      this.count = before;
      return masked === decoded ? null : MASK;
    });
  }

  /** A value whose name says that it is secret. */
  #hide(value: JsonValue): JsonValue {
    if (value === null || typeof value === 'boolean' || value === '' || value === MASK) return value;
    for (const text of textsOf(value)) this.#hidden(text);
    this.count += 1;
    return MASK;
  }
}

/** Names that are equal after masking stay apart. */
function freeName(name: string, taken: ReadonlyMap<string, JsonValue>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}#${number}`)) number += 1;
  return `${name}#${number}`;
}

/** The texts and numbers of a value. */
export function textsOf(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (isObject(value)) return Object.values(value).flatMap(textsOf);
  return value === null || typeof value === 'boolean' ? [] : [String(value)];
}
