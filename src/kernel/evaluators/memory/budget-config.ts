import { z } from 'zod';
import { boolean, nullable, oneOf, report, text, withDefault } from '../../../contract/input/fields.js';
import { type AmountSource, amountSource, positiveAmount } from './amounts.js';
import type { BudgetWindow } from './budget-state.js';
import { CALENDAR_UNITS, createCalendar, isTimeZone, LONGEST_WINDOW_US } from './calendar.js';
import { duration, durationText, microsecondsOf, windowLength } from './duration.js';
import { type CommonConfig, commonMembers } from './memory-evaluator.js';

/** The window of a budget, configured. */
export interface BudgetSpan {
  /** What identifies it: budgets with other windows count anew. */
  readonly meaning: string;
  /** For messages, such as "in a day". */
  readonly words: string;
  /** Null for the life of the key. */
  readonly lengthUs: number | null;
  readonly keepUs: number;
  at(nowUs: number): BudgetWindow;
}

export interface BudgetConfig extends CommonConfig {
  readonly limit: bigint;
  readonly unit: string | null;
  /** What a step costs, known before it runs; null if it is settled after it. */
  readonly amount: AmountSource | null;
  readonly reserve: AmountSource;
  readonly settle: AmountSource | null;
  readonly span: BudgetSpan;
  readonly expiresUs: number;
  readonly releases: boolean;
  readonly countsDenied: boolean;
}

const DEFAULT_EXPIRY_US = microsecondsOf('10m') ?? 0;
const MAX_UNIT_LENGTH = 32;
const MAX_ZONE_LENGTH = 64;
const ONE = 1_000_000_000n;

const windowSchema = (maxUs: number) =>
  z
    .object({
      calendar: nullable(oneOf(CALENDAR_UNITS)).meta({
        description: `A calendar unit: ${CALENDAR_UNITS.join(', ')}. The budget is whole again when the next one begins.`,
      }),
      time_zone: nullable(text({ min: 1, max: MAX_ZONE_LENGTH })).meta({
        description: 'Time zone of a calendar window, a name of the IANA database. Default UTC.',
      }),
      rolling: nullable(windowLength(maxUs)).meta({
        description: 'A time up to now, such as "24h": each amount counts for so long.',
      }),
      life: nullable(boolean()).meta({
        description: 'With true, all amounts count as long as the key is in use.',
      }),
      idle: nullable(windowLength(maxUs)).meta({
        description:
          'With life: after so long without a step that counts, the budget is whole again. Default: the longest window of the service.',
      }),
    })
    .transform(({ calendar, time_zone, rolling, life, idle }, sink): BudgetSpan => {
      const isLife = life === true;
      if ([calendar !== undefined, rolling !== undefined, isLife].filter(Boolean).length !== 1) {
        const message = 'must have exactly one of calendar, rolling and "life": true';
        report(sink, 'value_error', message, calendar ?? rolling ?? life ?? null);
        return z.NEVER;
      }
      if (calendar !== undefined) {
        const zone = time_zone ?? 'UTC';
        if (!isTimeZone(zone)) {
          const message = 'is no time zone that is known here; write a name such as Europe/Berlin';
          report(sink, 'value_error', message, zone, ['time_zone']);
          return z.NEVER;
        }
        const windowAt = createCalendar(calendar, zone);
        const keepUs = LONGEST_WINDOW_US[calendar];
        const at = (nowUs: number): BudgetWindow => {
          const { fromUs, toUs } = windowAt(nowUs);
          return { from: fromUs, to: toUs };
        };
        return {
          meaning: `${calendar} ${zone}`,
          words: `in a ${calendar}`,
          lengthUs: keepUs,
          keepUs,
          at,
        };
      }
      if (rolling !== undefined) {
        const window = { rolling };
        const words = `in ${durationText(rolling)}`;
        return { meaning: `rolling ${rolling}`, words, lengthUs: rolling, keepUs: rolling, at: () => window };
      }
      const window = { idle: idle ?? maxUs };
      return { meaning: 'life', words: 'in all', lengthUs: null, keepUs: window.idle, at: () => window };
    });

/** `maxUs`: the longest window of the service, in microseconds. Calendar windows may be longer. */
export function budgetSchema(maxUs: number): z.ZodType<BudgetConfig> {
  return z
    .object({
      limit: positiveAmount().meta({ description: 'What may be spent in a window.' }),
      unit: nullable(text({ min: 1, max: MAX_UNIT_LENGTH })).meta({
        description: 'Unit of the amounts for messages, such as "USD".',
      }),
      amount: nullable(amountSource(true)).meta({
        description:
          'What a step costs: a number, or the path of one in the input or the context. Charged before the step. ' +
          'Default 1, unless settle is given.',
      }),
      reserve: nullable(amountSource(true)).meta({
        description:
          'With settle: what is reserved before the step, a number or the path of an estimate. Default 0: a step then passes ' +
          'as long as anything is left.',
      }),
      settle: nullable(amountSource(false)).meta({
        description:
          'Path of what the step has cost, at the stage post, such as "output.usage.cost". It replaces what was reserved for ' +
          'the step with the same step_id.',
      }),
      window: windowSchema(maxUs).meta({
        description: 'When amounts count: {"calendar": "day"}, {"rolling": "24h"} or {"life": true}.',
      }),
      expires: nullable(duration(maxUs)).meta({
        description: 'How long a reservation waits for the end of its step. Default "10m".',
      }),
      on_expiry: nullable(oneOf(['charge', 'release'])).meta({
        description:
          'What becomes of a reservation whose step has not ended by then, or ended without an amount: "charge" (default) ' +
          'keeps it, until a later end replaces it; "release" frees it.',
      }),
      count_denied: withDefault(boolean(), false).meta({
        description: 'Whether steps that are denied are charged as well. Default false.',
      }),
      ...commonMembers(null),
    })
    .transform((given, sink): BudgetConfig => {
      const { limit, unit, amount, reserve, settle, window, expires, on_expiry, count_denied, ...common } =
        given;
      const refuse = (name: string, message: string): void =>
        report(sink, 'value_error', message, null, [name]);
      if (settle !== undefined) {
        if (amount !== undefined)
          refuse('amount', 'cannot be used with settle: write reserve for the estimate');
        if ('constant' in settle) refuse('settle', 'must be a path; write a constant as amount');
      } else if (reserve !== undefined) {
        refuse(
          'reserve',
          'needs settle: without it the amount is known before the step, so write it as amount',
        );
      }
      return {
        ...common,
        limit,
        unit: unit ?? null,
        amount: settle === undefined ? (amount ?? { constant: ONE }) : null,
        reserve: reserve ?? { constant: 0n },
        settle: settle ?? null,
        span: window,
        expiresUs: expires ?? Math.min(DEFAULT_EXPIRY_US, maxUs),
        releases: on_expiry === 'release',
        countsDenied: count_denied,
      };
    });
}
