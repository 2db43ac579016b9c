import { canonicalJson } from '../../../../packages/exact-json/src/index.js';
import type { ConfigWarning } from '../../core/evaluator.js';
import type {
  LimitState,
  MemoryAnswer,
  MemoryCall,
  MemoryMoment,
  MemoryRule,
  RuleState,
} from '../../core/memory.js';
import { compileSelector } from '../../core/selector.js';
import type { Step } from '../../core/types.js';
import { limitAnswer, notApplied } from './limit-answer.js';
import { type LoopConfig, loopSchema, MAX_CYCLE } from './loop-config.js';
import { type LoopDelta, type SeenStep, seenAt } from './loop-state.js';
import {
  commonRule,
  createMemoryEvaluator,
  fingerprintOf,
  type MemoryEvaluatorsOptions,
} from './memory-evaluator.js';
import { keyReader, normalizedKey } from './memory-key.js';

/** Characters of a digest: 72 bits. */
const DIGEST_LENGTH = 12;
/** Longest part of an error that is compared, in characters. */
const MAX_ERROR_LENGTH = 4_096;

/** Finds steps that are repeated without end. */
export function createLoopEvaluator({ maxWindowMs }: MemoryEvaluatorsOptions) {
  return createMemoryEvaluator<LoopConfig>({
    name: 'loop',
    version: '1.0.0',
    description: 'Matches when steps of a key repeat: the same one, a cycle of several, or the same error.',
    configSchema: loopSchema(maxWindowMs * 1_000),
    ruleOf: (config) => (config.pattern === 'error' ? errorRule(config) : stepRule(config)),
    matchesBeforeOnly: ({ pattern }) => pattern !== 'error',
    *warningsFor(config, { beforeSteps }): Generator<ConfigWarning, void> {
      if (config.pattern !== 'error') return;
      if (beforeSteps) {
        const message = 'errors are seen at the stage post, and the scope has the stage pre only';
        yield { code: 'output_before_step', path: ['pattern'], message };
      }
      for (const name of ['by', 'count_denied']) {
        if ((config[name] ?? null) === null) continue;
        yield { code: 'no_effect', path: [name], message: 'has no effect with the pattern error' };
      }
    },
  });
}

/** What the patterns have in common. */
function commonLoop(config: LoopConfig, ...meaning: (string | string[])[]) {
  const { last, span, hasTime, repeat, pattern } = config;
  /** `times`: when the same was seen, the latest first, the present step included. */
  const limitOf = (times: readonly number[], nowUs: number): LimitState => {
    const leaving = times[repeat - 2];
    const oldest = times.at(-1);
    return {
      limit: repeat - 1,
      remaining: Math.max(0, repeat - 1 - times.length),
      resetsAfterUs:
        oldest === undefined || times[0] === undefined ? 0 : hasTime ? times[0] + span + 1 - nowUs : null,
      retryAfterUs:
        times.length < repeat || leaving === undefined || !hasTime ? null : leaving + span + 1 - nowUs,
      windowUs: hasTime ? span : null,
    };
  };
  const delta = (digest: string, count: number): LoopDelta => {
    return { digest, last, span, share: Math.min(1, count / repeat) };
  };
  const describe = (state: RuleState, nowUs: number) => ({
    limit: null,
    kept: { steps: [...seenAt(state, last, span, nowUs)].length, pattern, repeat },
  });
  const shared = {
    kind: 'loop' as const,
    fingerprint: fingerprintOf('loop', [...normalizedKey(config)], last, span, ...meaning),
    isPerControl: true,
    ...commonRule(config),
    keepUs: span + 1,
    keyOf: keyReader(config),
    describe,
  };
  return { shared, limitOf, delta };
}

/** The patterns of steps that are about to run. */
function stepRule(config: LoopConfig): MemoryRule {
  const { by, repeat, pattern, last, span, countsDenied } = config;
  const { shared, limitOf, delta } = commonLoop(config, 'step', typeof by === 'string' ? by : [...by]);
  const partOf = comparedPart(by);
  const digestOf = (step: Step, { hash }: MemoryMoment): string | null => {
    const part = partOf(step);
    return part === null ? null : hash(part).slice(0, DIGEST_LENGTH);
  };
  const before = (state: RuleState | undefined, nowUs: number) => [...seenAt(state, last - 1, span, nowUs)];
  /** When the same step was seen, with the present one. */
  const timesOf = (seen: readonly SeenStep[], digest: string, nowUs: number): number[] => {
    return [nowUs, ...seen.filter((one) => one.digest === digest).map(({ atUs }) => atUs)];
  };
  const countOf = (seen: readonly SeenStep[], digest: string, nowUs: number): number =>
    pattern === 'same'
      ? timesOf(seen, digest, nowUs).length
      : cyclesOf([digest, ...seen.map((one) => one.digest)], repeat);

  return {
    ...shared,
    answer(state, { step, stage }, moment): MemoryAnswer {
      if (stage === 'post') return notApplied('Loops of steps are looked for before a step runs');
      const digest = digestOf(step, moment);
      if (digest === null) return notApplied('The step has none of the compared values');
      if (moment.isRepeated) return notApplied('The step was counted before');
      const seen = before(state, moment.nowUs);
      const count = countOf(seen, digest, moment.nowUs);
      const matched = count >= repeat;
      const what = pattern === 'same' ? 'The same step' : 'The same cycle of steps';
      const message = `${what} ${matched ? `for the ${ordinal(count)} time` : `${count} of ${repeat} times`}`;
      if (pattern !== 'same') return { ...notApplied(message), matched, metadata: { repetitions: count } };
      const times = timesOf(seen, digest, moment.nowUs);
      return limitAnswer(matched, message, limitOf(times, moment.nowUs), { repetitions: count });
    },
    consume(state, { step, stage }, event, moment) {
      if (stage === 'post' || (event === 'denied' && !countsDenied)) return null;
      const digest = digestOf(step, moment);
      return digest === null
        ? null
        : delta(digest, countOf(before(state, moment.nowUs), digest, moment.nowUs));
    },
  };
}

/** The canonical text of what is compared of a step; null if it has none of it. */
function comparedPart(by: LoopConfig['by']): (step: Step) => string | null {
  if (by === 'step') return ({ type, name, input }) => canonicalJson([type, name, input ?? null]);
  if (by === 'input') return ({ input }) => canonicalJson(input ?? null);
  const reads = by.map(compileSelector);
  return (step) => {
    const values = reads.map((read) => read(step));
    return values.every((value) => value === null) ? null : canonicalJson(values);
  };
}

/** How often the last cycle of two to MAX_CYCLE steps, not all the same, was run through, the latest first; at most `enough`. */
function cyclesOf(digests: readonly string[], enough: number): number {
  let most = 1;
  for (let length = 2; length <= MAX_CYCLE; length += 1) {
    const cycle = digests.slice(0, length);
    if (cycle.length < length || cycle.every((digest) => digest === cycle[0])) continue;
    let same = length;
    while (same < digests.length && same < enough * length && digests[same] === digests[same - length])
      same += 1;
    most = Math.max(most, Math.floor(same / length));
  }
  return most;
}

/** The pattern of steps that fail in the same way, one after another. */
function errorRule(config: LoopConfig): MemoryRule {
  const { repeat, last, span } = config;
  const { shared, limitOf, delta } = commonLoop(config, 'error');
  const nameOf = ({ type, name }: Step, { hash }: MemoryMoment): string =>
    hash(canonicalJson(['name', type, name])).slice(0, DIGEST_LENGTH);
  /** The name alone for a step that has not failed. */
  const digestOf = ({ step, identity }: MemoryCall, moment: MemoryMoment): string => {
    const name = nameOf(step, moment);
    if (identity.error === null) return name;
    return name + moment.hash(`error ${normalizedError(identity.error)}`).slice(0, DIGEST_LENGTH);
  };
  /** When steps of the name failed in the same way, since the last that did not, the latest first. */
  const failures = (state: RuleState | undefined, call: MemoryCall, moment: MemoryMoment): number[] => {
    const isEnd = call.stage === 'post';
    const name = nameOf(call.step, moment);
    const times = isEnd && call.identity.error !== null ? [moment.nowUs] : [];
    let same = isEnd ? digestOf(call, moment) : null;
    if (same === name) return [];
    for (const { digest, atUs } of seenAt(state, isEnd ? last - 1 : last, span, moment.nowUs)) {
      if (!digest.startsWith(name)) continue;
      same ??= digest;
      if (digest === name || digest !== same) break;
      times.push(atUs);
    }
    return times;
  };
  return {
    ...shared,
    answer(state, call, moment) {
      if (moment.isRepeated) return notApplied('The step was counted before');
      const times = failures(state, call, moment);
      const count = times.length;
      const matched = count >= repeat;
      const message = `Steps of this name failed ${count} ${count === 1 ? 'time' : 'times'} in the same way, one after another`;
      return limitAnswer(matched, message, limitOf(times, moment.nowUs), { repetitions: count });
    },
    consume(state, call, event, moment) {
      if (event !== 'response' && event !== 'error') return null;
      return delta(digestOf(call, moment), failures(state, call, moment).length);
    },
  };
}

/** An error without what differs each time: numbers, ids, and the form of blanks. */
function normalizedError(error: string): string {
  return error
    .slice(0, MAX_ERROR_LENGTH)
    .toLowerCase()
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '#')
    .replace(/\b0x[0-9a-f]+\b/g, '#')
    .replace(/[0-9]+/g, '#')
    .replace(/\s+/g, ' ')
    .trim();
}

function ordinal(count: number): string {
  const last = count % 100 >= 11 && count % 100 <= 13 ? 0 : count % 10;
  return `${count}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`;
}
