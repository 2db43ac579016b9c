import { z } from 'zod';
import { withDefault } from '../../../contract/input/fields.js';
import { integer } from '../../../contract/input/numbers.js';
import type { LimitState, MemoryRule } from '../../core/memory.js';
import { slotsAt } from './concurrency-state.js';
import { microsecondsOf, windowLength } from './duration.js';
import { limitAnswer, notApplied, secondsText } from './limit-answer.js';
import {
  type CommonConfig,
  commonMembers,
  commonRule,
  createMemoryEvaluator,
  fingerprintOf,
  type MemoryEvaluatorsOptions,
} from './memory-evaluator.js';
import { keyReaderWithStepId, normalizedKey } from './memory-key.js';

/** Most slots of a key. A step is decided in a time that grows with them: some 0.1 ms for the most. */
const MAX_SLOTS = 1_000;
const DEFAULT_LEASE_US = microsecondsOf('5m') ?? 0;

interface ConcurrencyConfig extends CommonConfig {
  readonly limit: number;
  readonly lease: number;
}

/** Limits how many steps of a key run at the same time. */
export function createConcurrencyEvaluator({ maxWindowMs }: MemoryEvaluatorsOptions) {
  const maxUs = maxWindowMs * 1_000;
  return createMemoryEvaluator<ConcurrencyConfig>({
    name: 'concurrency',
    version: '1.0.0',
    description: 'Matches when as many steps of a key run already as a limit allows.',
    configSchema: z.object({
      limit: integer({ min: 1, max: MAX_SLOTS }).meta({
        description: 'How many steps may run at the same time.',
      }),
      lease: withDefault(windowLength(maxUs), Math.min(DEFAULT_LEASE_US, maxUs)).meta({
        description: 'How long a step counts as running if its end is not sent. Default "5m".',
      }),
      ...commonMembers(null),
    }),
    ruleOf: concurrencyRule,
    matchesBeforeOnly: () => true,
  });
}

function concurrencyRule(config: ConcurrencyConfig): MemoryRule {
  const { limit, lease } = config;
  const limitOf = (ends: readonly number[], taken: number, nowUs: number, isFull: boolean): LimitState => ({
    limit,
    remaining: Math.max(0, limit - taken),
    resetsAfterUs:
      taken === 0 ? 0 : Math.max(ends.at(-1) ?? 0, taken > ends.length ? nowUs + lease : 0) + 1 - nowUs,
    // When enough leases have ended that a slot is free, if no step ends before.
    retryAfterUs: isFull ? (ends[ends.length - limit] ?? nowUs) + 1 - nowUs : null,
    windowUs: null,
  });
  return {
    kind: 'concurrency',
    fingerprint: fingerprintOf('concurrency', [...normalizedKey(config)]),
    isPerControl: true,
    ...commonRule(config),
    keepUs: lease + 1,
    keyOf: keyReaderWithStepId(config),
    answer(state, { stage }, { nowUs, stepHash, isRepeated }) {
      if (stage === 'post') return notApplied('The step has ended');
      const { ends, has } = slotsAt(state, nowUs, stepHash);
      const running = ends.length;
      if (isRepeated || has) {
        return limitAnswer(false, 'The step was counted before', limitOf(ends, running, nowUs, false), {
          running,
        });
      }
      if (running < limit) {
        const message = `${running + 1} of ${limit} steps at the same time`;
        return limitAnswer(false, message, limitOf(ends, running + 1, nowUs, false), { running });
      }
      const found = limitOf(ends, running, nowUs, true);
      const message = `Steps that run already: ${running}, of at most ${limit}; the next lease ends in ${secondsText(found.retryAfterUs ?? 0)}`;
      return limitAnswer(true, message, found, { running });
    },
    consume(_state, _call, event, { nowUs }) {
      return event === 'request' ? { until: nowUs + lease, limit } : null;
    },
    settle(state, _call, _isOpen, { nowUs, stepHash }) {
      return slotsAt(state, nowUs, stepHash).has ? { free: true } : null;
    },
    describe(state, nowUs) {
      const { ends } = slotsAt(state, nowUs, null);
      return { limit: limitOf(ends, ends.length, nowUs, false), kept: { running: ends.length } };
    },
  };
}
