import { givenMember, isJsonObject, type JsonObject, type JsonValue } from './json.js';
import type { DraftProblem } from './problem.js';

/** Reads the members of one JSON object and reports those that have a wrong type or are not read at all. */
export class MemberReader {
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #problems: DraftProblem[];
  readonly #read = new Set<string>();

  constructor(object: JsonObject, path: string, problems: DraftProblem[]) {
    this.#object = object;
    this.#path = path;
    this.#problems = problems;
  }

  text(name: string): string | undefined {
    return this.#member(name, 'a text', (value) => (typeof value === 'string' ? value : undefined));
  }

  flag(name: string): boolean | undefined {
    return this.#member(name, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined));
  }

  /** A whole number that RPCs can carry. */
  whole(name: string): number | undefined {
    return this.#member(name, 'a whole number', (value) =>
      typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : undefined,
    );
  }

  any(name: string): JsonValue | undefined {
    return this.#member(name, 'a value', (value) => value);
  }

  word<T>(name: string, words: Readonly<Record<string, T>>): T | undefined {
    return this.#member(name, `one of: ${Object.keys(words).join(', ')}`, (value) => wordOf(value, words));
  }

  texts(name: string): string[] {
    return this.#items(name, 'a text', (value) => (typeof value === 'string' ? value : undefined)) ?? [];
  }

  words<T>(name: string, words: Readonly<Record<string, T>>): T[] {
    const expected = `one of: ${Object.keys(words).join(', ')}`;
    return this.#items(name, expected, (value) => wordOf(value, words)) ?? [];
  }

  /** A free-form object. */
  free(name: string): JsonObject | undefined {
    return this.#member(name, 'an object', (value) => (isJsonObject(value) ? value : undefined));
  }

  object<T>(name: string, read: (reader: MemberReader) => T): T | undefined {
    const value = this.free(name);
    return value && this.#below(value, this.#pathOf(name), read);
  }

  objects<T>(name: string, read: (reader: MemberReader) => T): T[] | undefined {
    const items = this.#items(name, 'an object', (value) => (isJsonObject(value) ? value : undefined));
    return items?.map((item, index) => this.#below(item, `${this.#pathOf(name)}[${index}]`, read));
  }

  /** Reports every member that no other method was called for. */
  end(): void {
    for (const name of Object.keys(this.#object)) {
      if (this.#read.has(name)) continue;
      const message = 'The service has no such member here: it has no effect, and saving leaves it out.';
      this.#problems.push({ field: this.#pathOf(name), message, severity: 'warning' });
    }
  }

  #below<T>(value: JsonObject, path: string, read: (reader: MemberReader) => T): T {
    const reader = new MemberReader(value, path, this.#problems);
    const result = read(reader);
    reader.end();
    return result;
  }

  #items<T>(name: string, expected: string, read: (value: JsonValue) => T | undefined): T[] | undefined {
    const list = this.#member(name, 'a list', (value) => (Array.isArray(value) ? value : undefined));
    return list?.flatMap((value, index) => {
      const item = read(value);
      if (item === undefined) this.#refuse(`${this.#pathOf(name)}[${index}]`, expected);
      return item === undefined ? [] : [item];
    });
  }

  #member<T>(name: string, expected: string, read: (value: JsonValue) => T | undefined): T | undefined {
    this.#read.add(name);
    const value = givenMember(this.#object, name);
    if (value === undefined) return undefined;
    const result = read(value);
    if (result === undefined) this.#refuse(this.#pathOf(name), expected);
    return result;
  }

  #refuse(field: string, expected: string): void {
    this.#problems.push({ field, message: `must be ${expected}`, severity: 'error' });
  }

  #pathOf(name: string): string {
    return `${this.#path}.${name}`;
  }
}

function wordOf<T>(value: JsonValue, words: Readonly<Record<string, T>>): T | undefined {
  return typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined;
}
