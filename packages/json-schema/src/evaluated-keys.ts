import type { JsonValue } from '../../exact-json/src/index.js';
import type { Work } from './work.js';

/** Units of work of one key in a set. */
const UNITS_PER_KEY = 4;

/** What is restored when a schema has been applied. */
export interface OuterScope {
  readonly value: JsonValue | undefined;
  readonly start: number;
}

/**
 * The annotations that `unevaluatedProperties` and `unevaluatedItems` depend on (core 2020-12, section 11):
 * names and indexes evaluated by the schemas that are being applied, in one list. Those of a schema are the
 * end of the list. They are removed when the schema fails, and when it was applied to another value than the
 * enclosing schema, that is to a member or an item.
 */
export class EvaluatedKeys {
  private readonly keys: (string | number)[] = [];
  private value: JsonValue | undefined;
  private start = 0;

  /** Called before a schema is applied to a value, and `leave` after it. */
  enter(value: JsonValue): OuterScope {
    const outer = { value: this.value, start: this.start };
    this.value = value;
    this.start = this.keys.length;
    return outer;
  }

  leave(outer: OuterScope, kept: boolean): void {
    if (!kept || outer.value !== this.value) this.keys.length = this.start;
    this.value = outer.value;
    this.start = outer.start;
  }

  /** Notes a member or an item of the value that the current schema is applied to. */
  add(key: string | number): void {
    this.keys.push(key);
  }

  /** A test whether the current schema, or one that it applied to the same value, has evaluated a key. */
  reader(work: Work): (key: string | number) => boolean {
    work.spend((this.keys.length - this.start) * UNITS_PER_KEY);
    const known = new Set(this.keys.slice(this.start).map(hashed));
    return (key) => known.has(hashed(key));
  }
}

/** Texts that look like indexes are hashed without a secret, so that callers could craft slow sets of them. */
function hashed(key: string | number): string | number {
  return typeof key === 'string' ? `.${key}` : key;
}
