import {
  type CelResult,
  type CelValues,
  type CompiledExpression,
  equalityText,
  type MemberPath,
} from '../../../../packages/cel/src/index.js';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseStoredJson,
  stringifyJson,
} from '../../../../packages/exact-json/src/index.js';
import type { MemoryCall, StepEvent } from '../../core/memory.js';
import { WHERE_VARIABLES } from './history-where.js';

/** Most work of the expressions of one check or one recording, in search steps of some 13 ns: some 6 ms. */
const MAX_WORK = 500_000;
/** Longest text of what is kept of an event for mixed terms, in characters. */
const MAX_FACTS_LENGTH = 1_024;

const TOO_MUCH_WORK: CelResult = { ok: false, error: 'exceeds the work limit', missing: null, isLimit: true };
const NO_CONTEXT: JsonObject = {};
const noTime = (): number => Number.NaN;

/** A value that an expression gives as a text that equal values share; or why there is none. */
export type TextResult = { readonly text: string } | Extract<CelResult, { ok: false }>;

/** The evaluations of one check or one recording: the present step, and one event after the other. */
export class WhereRun implements CelValues {
  event: JsonObject | null = null;
  readonly #step: MemoryCall['step'];
  #work = 0;

  constructor({ step }: MemoryCall) {
    this.#step = step;
  }

  evaluate(expression: CompiledExpression): CelResult {
    if (this.#work > MAX_WORK) return TOO_MUCH_WORK;
    return expression.evaluate(this, noTime, (steps) => {
      this.#work += steps;
    });
  }

  text(expression: CompiledExpression): TextResult {
    const result = this.evaluate(expression);
    if (!result.ok) return result;
    const text = equalityText(result.value);
    return text === null
      ? { ok: false, error: 'is not a number, and equals nothing', missing: null }
      : { text };
  }

  variable(index: number): JsonValue {
    const { input, output, context, type, name } = this.#step;
    switch (WHERE_VARIABLES[index]) {
      case 'event':
        return this.event;
      case 'input':
        return input ?? null;
      case 'output':
        return output ?? null;
      case 'context':
        return context ?? NO_CONTEXT;
      case 'step':
        return { type, name };
      default:
        throw new Error(`where has no variable ${index}`);
    }
  }
}

/** A step as an event of this kind, as expressions read it. */
export function eventOf({ step, identity }: MemoryCall, kind: StepEvent): JsonObject {
  const { type, name, input, output, context } = step;
  return {
    kind,
    step: { type, name },
    input: input ?? null,
    output: output ?? null,
    error: identity.error,
    context: context ?? NO_CONTEXT,
  };
}

/**
 * A member of an event: its value; or how many names of its path lead to objects, and what follows: no such member, null, or a
 * value without members.
 */
type Fact = [JsonValue] | [found: number, end: typeof ABSENT | typeof IS_NULL | typeof IS_PLAIN];
const ABSENT = 0;
const IS_NULL = 1;
const IS_PLAIN = 2;

/** What is kept of an event for the members at some paths; null if it is too large. */
export function factsText(event: JsonObject, paths: readonly MemberPath[]): string | null {
  const text = stringifyJson(paths.map((path) => factOf(event, path)));
  return text.length > MAX_FACTS_LENGTH ? null : text;
}

function factOf(event: JsonObject, [, ...names]: MemberPath): Fact {
  let at: JsonValue = event;
  for (const [index, name] of names.entries()) {
    if (!isObject(at)) return [index, at === null ? IS_NULL : IS_PLAIN];
    if (!Object.hasOwn(at, name)) return [index, ABSENT];
    at = at[name] ?? null;
  }
  return [at];
}

/**
 * An event as far as its facts tell, and whether it has the members at all paths. Throws if the text does not have the facts of
 * the paths.
 */
export function eventOfFacts(
  text: string,
  paths: readonly MemberPath[],
): { readonly event: JsonObject; readonly isWhole: boolean } {
  const facts = parseStoredJson(text) as Fact[];
  const event: JsonObject = {};
  let isWhole = true;
  for (const [index, [, ...names]] of paths.entries()) {
    const fact = facts[index];
    if (fact === undefined) throw new Error('the facts of an event are not those of its paths');
    if (fact.length === 1) {
      if (names.length === 0 && isObject(fact[0])) return { event: fact[0], isWhole };
      put(event, names, fact[0]);
      continue;
    }
    isWhole = false;
    const [found, end] = fact;
    const owners = names.slice(0, found);
    if (end === ABSENT) put(event, owners, {});
    else put(event, owners, end === IS_NULL ? null : 0);
  }
  return { event, isWhole };
}

/** Sets a member; objects that are there keep their members. */
function put(event: JsonObject, names: readonly string[], value: JsonValue): void {
  let at = event;
  for (const [index, name] of names.entries()) {
    const known = Object.hasOwn(at, name) ? at[name] : undefined;
    const isLast = index === names.length - 1;
    const next = isObject(known) ? known : isLast ? value : {};
    if (next !== known) {
      Object.defineProperty(at, name, { value: next, enumerable: true, configurable: true, writable: true });
    }
    if (!isObject(next)) return;
    at = next;
  }
}
