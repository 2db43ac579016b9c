import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { MASK } from '../../contract/secrets/mask-credentials.js';
import type { Step } from '../../kernel/core/types.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import { MaskWalk, textsOf } from './mask-walk.js';
import type { SamplingRule } from './sampling-rule.js';
import { createQuoteMask, createTextMask } from './text-masking.js';

/** Shorter texts that were masked stay elsewhere in the step, where they are parts of ordinary words. */
const MIN_QUOTED_LENGTH = 6;
/** Most masked texts that are looked for in the rest of a step: the time grows with each. */
const MAX_QUOTED = 200;

/** A step with what else of its call is kept. */
export interface MaskedCall {
  readonly step: Step;
  readonly sessionId: string | null;
  readonly target: { readonly type: string; readonly id: string } | null;
}

/** Masks what a rule says, and whatever looks like a secret or personal data. */
export interface Masking {
  /** The step with the parts replaced that the paths of the rule name, whatever they contain, and their number. */
  withoutPaths(step: Step): Masked<Step>;
  /**
   * The call without secrets and personal data: in texts, numbers, names of members, and in what texts encode. `given` is the step
   * before `withoutPaths`: what was masked in one place is masked in all others too.
   */
  masked(call: MaskedCall, given?: Step): Masked<MaskedCall>;
}

export interface Masked<T> {
  readonly value: T;
  /** Number of values, and names of members, that were replaced or changed. */
  readonly count: number;
}

export function createMasking(
  { maskedPaths, maskedPatterns }: Pick<SamplingRule, 'maskedPaths' | 'maskedPatterns'>,
  findSensitive: FindSensitive,
): Masking {
  let secrets = new Set<string>();
  const found = (secret: string): void => {
    const text = secret.trim();
    if (text.length >= MIN_QUOTED_LENGTH && secrets.size < MAX_QUOTED) secrets.add(text);
  };
  const mask = createTextMask(maskedPatterns, findSensitive, found);
  return {
    withoutPaths: (step) => withoutPaths(step, maskedPaths),
    masked(call, given) {
      secrets = new Set();
      if (given !== undefined) for (const text of textsOf(partsAt(given, maskedPaths))) found(text);
      const first = new MaskWalk(mask, found);
      const masked = maskedCall(call, first);
      if (secrets.size === 0) return { value: masked, count: first.count };
      const second = new MaskWalk(createQuoteMask(secrets), nothing);
      return { value: maskedCall(masked, second), count: first.count + second.count };
    },
  };
}

const nothing = (): void => {};

/** A text, such as the name of a step, without secrets and personal data; where none can be found nothing of it is left. */
export function maskedText(text: string, place: string, findSensitive: FindSensitive | null): string {
  if (findSensitive === null) return MASK;
  return new MaskWalk(createTextMask([], findSensitive, nothing), nothing).text(text, place);
}

function maskedCall({ step, sessionId, target }: MaskedCall, walk: MaskWalk): MaskedCall {
  const { type, name, input, output, context } = step;
  return {
    step: {
      type: walk.text(type, 'type'),
      name: walk.text(name, 'name'),
      input: walk.value(input, 'input'),
      output: walk.value(output, 'output'),
      context: context === null ? null : walk.object(context, 'context'),
    },
    sessionId: sessionId === null ? null : walk.text(sessionId, 'session_id'),
    target: target && { type: walk.text(target.type, 'target_type'), id: walk.text(target.id, 'target_id') },
  };
}

/** What the paths name. */
function partsAt(step: Step, paths: readonly string[]): JsonValue[] {
  const parts: JsonValue[] = [];
  replacedAt(step, paths, (part) => parts.push(part));
  return parts;
}

function withoutPaths(step: Step, paths: readonly string[]): Masked<Step> {
  let count = 0;
  const value = replacedAt(step, paths, () => {
    count += 1;
  });
  return { value, count };
}

/** The step with MASK at these paths, where there is something; `each` receives what was there. */
function replacedAt(step: Step, paths: readonly string[], each: (part: JsonValue) => void): Step {
  let value = step;
  for (const path of paths) {
    const [first = '', ...keys] = path.split('.');
    const roots =
      first === '*' && keys.length === 0 ? (['input', 'output', 'context'] as const) : [first as keyof Step];
    for (const root of roots) {
      const member = value[root];
      const replaced = keys.length === 0 ? replacedWhole(root, member, each) : withoutKey(member, keys, each);
      if (replaced !== member) value = { ...value, [root]: replaced };
    }
  }
  return value;
}

/** The context of a step is an object, so nothing of it stays. */
function replacedWhole(root: keyof Step, member: JsonValue, each: (part: JsonValue) => void): JsonValue {
  if (member === null) return null;
  each(member);
  return root === 'context' ? {} : MASK;
}

/** The same value if it has no such member. Of a list, in every item: selectors do not reach there, but more is masked than needed. */
function withoutKey(value: JsonValue, keys: readonly string[], each: (part: JsonValue) => void): JsonValue {
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutKey(item, keys, each));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const [key = '', ...rest] = keys;
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  const member = value[key] ?? null;
  const replaced = rest.length === 0 ? MASK : withoutKey(member, rest, each);
  if (replaced === member) return value;
  if (rest.length === 0) each(member);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === key ? replaced : one]),
  ) as JsonObject;
}
