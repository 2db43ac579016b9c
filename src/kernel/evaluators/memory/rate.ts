import { z } from 'zod';
import { boolean, report, withDefault } from '../../../contract/input/fields.js';
import { integer } from '../../../contract/input/numbers.js';
import type { LimitState, MemoryRule, RuleState } from '../../core/memory.js';
import { durationText, windowLength } from './duration.js';
import { limitAnswer, notApplied, secondsText } from './limit-answer.js';
import {
  type CommonConfig,
  commonMembers,
  commonRule,
  createMemoryEvaluator,
  fingerprintOf,
  type MemoryEvaluatorsOptions,
} from './memory-evaluator.js';
import { keyReader, normalizedKey } from './memory-key.js';
import { arrivalOf, rateState } from './rate-state.js';

const MAX_LIMIT = 1_000_000;

interface RateConfig extends CommonConfig {
  readonly limit: number;
  readonly periodUs: number;
  readonly burst: number;
  readonly countsDenied: boolean;
}

/** Limits how often steps of a key run. */
export function createRateEvaluator({ maxWindowMs }: MemoryEvaluatorsOptions) {
  return createMemoryEvaluator<RateConfig>({
    name: 'rate',
    version: '1.0.0',
    description: 'Matches when steps of a key come more often than a limit in a period, after a burst.',
    configSchema: rateSchema(maxWindowMs * 1_000),
    ruleOf: rateRule,
    matchesBeforeOnly: () => true,
  });
}

function rateSchema(maxUs: number): z.ZodType<RateConfig> {
  return z
    .object({
      limit: integer({ min: 1, max: MAX_LIMIT }).meta({
        description: 'How many steps a period has room for.',
      }),
      period: windowLength(maxUs).meta({
        description: 'The period, such as "1h".',
      }),
      burst: integer({ min: 1, max: MAX_LIMIT }).optional().meta({
        description: 'How many steps may come at once after a time without any. Default: limit.',
      }),
      count_denied: withDefault(boolean(), false).meta({
        description:
          'Whether steps that are denied take room as well, as long as there is any. Default false.',
      }),
      ...commonMembers(null),
    })
    .transform(({ period: periodUs, burst, count_denied: countsDenied, ...rest }, sink) => {
      const config = { ...rest, periodUs, burst: burst ?? rest.limit, countsDenied };
      if (fillUs(config) > maxUs) {
        const message =
          'is too large: after it, room for as many steps comes back in burst * period / limit, which must be at most ' +
          durationText(maxUs);
        report(sink, 'value_error', message, burst ?? null, ['burst']);
      }
      return config;
    });
}

/** Time in which room for a whole burst comes back. */
function fillUs({ burst, periodUs, limit }: Pick<RateConfig, 'burst' | 'periodUs' | 'limit'>): number {
  return Math.ceil((burst * periodUs) / limit);
}

/**
 * The generic cell rate algorithm: ITU-T I.371 and ATM Forum Traffic Management 4.1, 4.4.2 (virtual scheduling), with the
 * increment period / limit and the tolerance (burst - 1) * period / limit. One number is kept, the theoretical time of the
 * next arrival. It is exact: it is counted in 1 / limit of a microsecond, in which the increment is whole.
 */
function rateRule(config: RateConfig): MemoryRule {
  const { limit, periodUs, burst, countsDenied } = config;
  const scale = BigInt(limit);
  const cost = BigInt(periodUs);
  const capacity = BigInt(burst) * cost;
  const windowUs = fillUs(config);
  const upToUs = (units: bigint): number => Number((units + scale - 1n) / scale);

  const look = (state: RuleState | undefined, nowUs: number) => {
    const now = BigInt(nowUs) * scale;
    const arrival = arrivalOf(state, now, limit);
    return { now, arrival, room: now + capacity - arrival };
  };
  /** `arrival` is that after the step. */
  const limitAt = (now: bigint, arrival: bigint, retryAfterUs: number | null): LimitState => {
    const room = now + capacity - arrival;
    const remaining = room < cost ? 0 : Number(room / cost);
    return { limit: burst, remaining, resetsAfterUs: upToUs(arrival - now), retryAfterUs, windowUs };
  };

  return {
    kind: 'rate',
    fingerprint: fingerprintOf('rate', [...normalizedKey(config)], periodUs),
    isPerControl: true,
    ...commonRule(config),
    keepUs: windowUs + 1,
    keyOf: keyReader(config),
    answer(state, { stage }, { nowUs, isRepeated }) {
      if (stage === 'post') return notApplied('A rate is applied before the step runs');
      const { now, arrival, room } = look(state, nowUs);
      const rate = `${limit} steps in ${durationText(periodUs)}${burst === limit ? '' : `, at most ${burst} at once`}`;
      if (isRepeated) {
        return limitAnswer(false, `The step was counted before (${rate})`, limitAt(now, arrival, null));
      }
      if (room >= cost) return limitAnswer(false, `Within ${rate}`, limitAt(now, arrival + cost, null));
      const retryUs = upToUs(cost - room);
      return limitAnswer(
        true,
        `More than ${rate}; there is room again in ${secondsText(retryUs)}`,
        limitAt(now, arrival, retryUs),
      );
    },
    consume(state, _call, event, { nowUs }) {
      if (event !== 'request' && !(event === 'denied' && countsDenied)) return null;
      const { now, arrival, room } = look(state, nowUs);
      if (room < cost && event === 'request') return null;
      // A denied step takes what room there is: the arrival is never later than after a whole burst.
      const next = room < cost ? now + capacity : arrival + cost;
      return next === arrival ? null : rateState(next, limit, windowUs);
    },
    describe(state, nowUs) {
      const { now, arrival } = look(state, nowUs);
      const limitNow = limitAt(now, arrival, null);
      return { limit: limitNow, kept: { used: burst - limitNow.remaining } };
    },
  };
}
