import { MAX_MADE_CHARACTERS, MAX_MADE_ITEMS, MAX_WORK } from './limits.js';
import type { CelValues } from './types.js';
import { CelTimestamp, Fault, type Value } from './values.js';

/** Thrown when an evaluation exceeds a limit: no operator absorbs it. */
export class LimitExceeded extends Error {}

const { stackTraceLimit } = Error;
Error.stackTraceLimit = 0;
const TOO_MUCH_WORK = new LimitExceeded('exceeds the work limit');
const TOO_MUCH_MADE = new LimitExceeded('makes texts or lists beyond the limit');
Error.stackTraceLimit = stackTraceLimit;

/** Compiled node: its value in a run. */
export type Code = (run: Run) => Value;

/** State of one evaluation. */
export class Run {
  work = 0;
  /** Values of the variables of macros, by their slots. */
  readonly slots: Value[];
  #values: CelValues | null = null;
  #nowMs: (() => number) | null = null;
  #now: CelTimestamp | undefined;
  readonly #variables: (Value | undefined)[];
  #characters = 0;
  #items = 0;

  constructor(variables: number, slots: number) {
    this.#variables = new Array<Value | undefined>(variables).fill(undefined);
    this.slots = new Array<Value>(slots).fill(null);
  }

  get isBusy(): boolean {
    return this.#values !== null;
  }

  begin(values: CelValues, nowMs: () => number, work: number): void {
    this.#values = values;
    this.#nowMs = nowMs;
    this.#now = undefined;
    this.#characters = 0;
    this.#items = 0;
    this.work = work;
  }

  /** Forgets the values, so that a compiled expression keeps no step in memory. */
  end(): void {
    this.#values = null;
    this.#nowMs = null;
    for (let index = 0; index < this.#variables.length; index += 1) this.#variables[index] = undefined;
    for (let index = 0; index < this.slots.length; index += 1) this.slots[index] = null;
  }

  variable(index: number): Value {
    const known = this.#variables[index];
    if (known !== undefined) return known;
    const value = (this.#values as CelValues).variable(index);
    this.#variables[index] = value;
    return value;
  }

  /** The moment of this evaluation, the same wherever the expression asks. */
  now(): Value {
    if (this.#now === undefined) {
      const ms = this.#nowMs?.() ?? Number.NaN;
      if (!Number.isFinite(ms)) return new Fault('the time is unknown');
      const seconds = Math.floor(ms / 1_000);
      this.#now = new CelTimestamp(seconds, Math.floor((ms - seconds * 1_000) * 1e6));
    }
    return this.#now;
  }

  get workLeft(): number {
    return MAX_WORK - this.work;
  }

  /** What a search throws that would take more work than is left. */
  limitExceeded(): LimitExceeded {
    return TOO_MUCH_WORK;
  }

  /** Counts work. Throws `LimitExceeded` when it is too much. */
  spend(steps: number): void {
    this.work += steps;
    if (this.work > MAX_WORK) throw TOO_MUCH_WORK;
  }

  /** Work linear in the length of a text, of which a step reads 8 characters. */
  read(text: string): void {
    this.spend(1 + text.length / 8);
  }

  /** Counts the characters of a text before it is made. */
  makeText(length: number): void {
    this.#characters += length;
    this.spend(1 + length / 8);
    if (this.#characters > MAX_MADE_CHARACTERS) throw TOO_MUCH_MADE;
  }

  /** Counts the items of a list before it is made. */
  makeItems(count: number): void {
    this.#items += count;
    this.spend(1 + count / 2);
    if (this.#items > MAX_MADE_ITEMS) throw TOO_MUCH_MADE;
  }
}
