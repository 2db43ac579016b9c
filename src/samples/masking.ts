import {
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '../../packages/exact-json/src/index.js';
import { compilePattern, type LinearPattern } from '../../packages/linear-text/src/index.js';
import { MASK } from '../contract/secrets/mask-credentials.js';
import { isSecretName } from '../contract/secrets/secret-names.js';
import { type Replacement, replaceSpans } from '../core/text-spans.js';
import type { Step } from '../core/types.js';
import type { CompiledDetector } from '../evaluators/detectors/detector.js';
import { piiDetector } from '../evaluators/pii/pii.js';
import { secretsDetector } from '../evaluators/secrets/secrets.js';
import { maskSecrets } from '../explain/mask-secrets.js';
import type { SamplingRule } from './sampling-rule.js';

/** Less certain findings are masked too: more than a control would match. */
const LEAST_SCORE = 0.3;
/** Longer texts of JSON inside of texts are searched as texts only. */
const MAX_NESTED_LENGTH = 1_048_576;
const MAX_NESTED_LEVELS = 8;
const MAY_BE_JSON = /^\s*[[{"]/;

/** Masks what a rule says, and whatever looks like a secret or personal data. */
export interface Masking {
  /** The step with the parts replaced that the paths of the rule name, whatever they contain, and their number. */
  withoutPaths(step: Step): Masked<Step>;
  /** The step without secrets and personal data: in texts, numbers, names of members, and in JSON inside of texts. */
  masked(step: Step): Masked<Step>;
  /** The same for a text. */
  maskedText(text: string, place: string): string;
}

export interface Masked<T> {
  readonly value: T;
  /** Number of values, and names of members, that were replaced or changed. */
  readonly count: number;
}

let detectors: readonly CompiledDetector[] | undefined;

export function createMasking({
  maskedPaths,
  maskedPatterns,
}: Pick<SamplingRule, 'maskedPaths' | 'maskedPatterns'>): Masking {
  const patterns = maskedPatterns.map((pattern) => compilePattern(pattern));
  detectors ??= [secretsDetector(LEAST_SCORE), piiDetector(LEAST_SCORE)];
  const walk = new Walk(patterns, detectors);
  return {
    withoutPaths: (step) => withoutPaths(step, maskedPaths),
    masked({ type, name, input, output, context }) {
      walk.count = 0;
      const value = {
        type: walk.text(type, 'type', 0),
        name: walk.text(name, 'name', 0),
        input: walk.value(input, 'input', 0),
        output: walk.value(output, 'output', 0),
        context: context === null ? null : walk.object(context, 'context', 0),
      };
      return { value, count: walk.count };
    },
    maskedText: (text, place) => walk.text(text, place, 0),
  };
}

class Walk {
  count = 0;
  readonly #patterns: readonly LinearPattern[];
  readonly #detectors: readonly CompiledDetector[];

  constructor(patterns: readonly LinearPattern[], all: readonly CompiledDetector[]) {
    this.#patterns = patterns;
    this.#detectors = all;
  }

  /** `place` as for detectors: where the value is, names of members between slashes. `levels` of texts around it. */
  value(value: JsonValue, place: string, levels: number): JsonValue {
    if (typeof value === 'string') return this.text(value, place, levels);
    if (Array.isArray(value)) return value.map((item, at) => this.value(item, `${place}/${at}`, levels));
    if (isObject(value)) return this.object(value, place, levels);
    if (value === null || typeof value === 'boolean') return value;
    // A number may be that of a card.
    const digits = String(value);
    const masked = this.#masked(digits, place);
    if (masked === digits) return value;
    this.count += 1;
    return MASK;
  }

  object(value: JsonObject, place: string, levels: number): JsonObject {
    const masked = new Map<string, JsonValue>();
    for (const [name, member] of Object.entries(value)) {
      const key = this.#freeName(this.#masked(name, place), masked);
      if (key !== name) this.count += 1;
      masked.set(
        key,
        isSecretName(name) ? this.#hidden(member) : this.value(member, `${place}/${name}`, levels),
      );
    }
    // A member may be named __proto__.
    return Object.fromEntries(masked);
  }

  text(text: string, place: string, levels: number): string {
    const nested = this.#withoutNested(text, place, levels);
    const masked = this.#masked(nested, place);
    if (masked !== nested) this.count += 1;
    return masked;
  }

  /** A text that is JSON is masked as the value that it contains, unless there is nothing to mask. */
  #withoutNested(text: string, place: string, levels: number): string {
    if (levels >= MAX_NESTED_LEVELS || text.length > MAX_NESTED_LENGTH || !MAY_BE_JSON.test(text))
      return text;
    let nested: JsonValue;
    try {
      nested = parseJson(text, { duplicates: 'last' });
    } catch {
      return text;
    }
    const before = this.count;
    const masked = this.value(nested, place, levels + 1);
    return this.count === before ? text : stringifyJson(masked);
  }

  #masked(text: string, place: string): string {
    const found: Replacement[] = [];
    try {
      for (const pattern of this.#patterns) {
        for (const { start, end } of pattern.findAll(text)) found.push({ start, end, with: MASK });
      }
      for (const { detect, threshold } of this.#detectors) {
        const add = ({ score, start, end }: { score: number; start: number; end: number }): void => {
          if (score >= threshold) found.push({ start, end, with: MASK });
        };
        detect(text, add, nothing, place);
      }
    } catch {
      // It cannot be searched: nothing of it is kept.
      return MASK;
    }
    return maskSecrets(found.length === 0 ? text : replaceSpans(text, found));
  }

  /** A value whose name says that it is secret. */
  #hidden(value: JsonValue): JsonValue {
    if (value === null || typeof value === 'boolean' || value === '') return value;
    this.count += 1;
    return MASK;
  }

  /** Names that are equal after masking stay apart. */
  #freeName(name: string, taken: ReadonlyMap<string, JsonValue>): string {
    if (!taken.has(name)) return name;
    let number = 2;
    while (taken.has(`${name}#${number}`)) number += 1;
    return `${name}#${number}`;
  }
}

const nothing = (): void => {};

function withoutPaths(step: Step, paths: readonly string[]): Masked<Step> {
  let { value, count } = { value: step, count: 0 };
  for (const path of paths) {
    const [first = '', ...keys] = path.split('.');
    const roots =
      first === '*' && keys.length === 0 ? (['input', 'output', 'context'] as const) : [first as keyof Step];
    for (const root of roots) {
      const member = value[root];
      const replaced = keys.length === 0 ? replacedWhole(root, member) : withoutKey(member, keys);
      if (replaced === member) continue;
      value = { ...value, [root]: replaced };
      count += 1;
    }
  }
  return { value, count };
}

/** The context of a step is an object, so nothing of it stays. */
function replacedWhole(root: keyof Step, member: JsonValue): JsonValue {
  if (member === null) return null;
  return root === 'context' ? {} : MASK;
}

/** The same value if it has no such member. */
function withoutKey(value: JsonValue, [key = '', ...keys]: readonly string[]): JsonValue {
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  const member = value[key] ?? null;
  const replaced = keys.length === 0 ? MASK : withoutKey(member, keys);
  if (replaced === member) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === key ? replaced : each]),
  );
}
