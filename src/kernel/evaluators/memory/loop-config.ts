import { z } from 'zod';
import {
  boolean,
  field,
  list,
  nullable,
  oneOf,
  refuseTyped,
  report,
  withDefault,
} from '../../../contract/input/fields.js';
import { integer } from '../../../contract/input/numbers.js';
import { windowLength } from './duration.js';
import { MAX_LAST } from './loop-state.js';
import { type CommonConfig, commonMembers } from './memory-evaluator.js';
import { isStepPath, MAX_PATH_LENGTH } from './memory-key.js';

export const LOOP_PATTERNS = ['same', 'alternating', 'error'] as const;
/** Longest cycle of alternating steps. */
export const MAX_CYCLE = 8;
const MAX_REPEAT = 100;
const MAX_PATHS = 20;

export interface LoopConfig extends CommonConfig {
  /** What is compared: the step, its input, or the values at paths. */
  readonly by: 'step' | 'input' | readonly string[];
  readonly repeat: number;
  readonly pattern: (typeof LOOP_PATTERNS)[number];
  /** How many steps count, the present one included. */
  readonly last: number;
  /** For how long they count, in microseconds. */
  readonly span: number;
  /** Whether that is a setting, so that time helps. */
  readonly hasTime: boolean;
  readonly countsDenied: boolean;
}

const paths = list(
  field<string>(
    (value, sink) => {
      if (typeof value === 'string' && value.length <= MAX_PATH_LENGTH && isStepPath(value)) return value;
      const message = 'must be a path that begins with input, context, type or name, such as input.url';
      return refuseTyped(sink, 'value_error', message, value);
    },
    { type: 'string', maxLength: MAX_PATH_LENGTH },
  ),
  { min: 1, max: MAX_PATHS },
);
const words = oneOf(['step', 'input']);
const by = field<LoopConfig['by']>(
  (value, sink) => {
    const found = (Array.isArray(value) ? paths : words).safeParse(value);
    if (found.success) return found.data;
    if (!Array.isArray(value)) {
      return refuseTyped(sink, 'value_error', 'must be step, input, or a list of paths', value);
    }
    for (const { path, message, input } of found.error.issues) {
      report(sink, 'value_error', message, input, [...path]);
    }
    return z.NEVER;
  },
  {
    anyOf: [
      { type: 'string', enum: ['step', 'input'] },
      {
        type: 'array',
        items: { type: 'string', maxLength: MAX_PATH_LENGTH },
        minItems: 1,
        maxItems: MAX_PATHS,
      },
    ],
  },
);

/** `maxUs`: the longest window of the service, in microseconds. */
export function loopSchema(maxUs: number): z.ZodType<LoopConfig> {
  return z
    .object({
      pattern: withDefault(oneOf(LOOP_PATTERNS), 'same').meta({
        description:
          '"same" (default): the same step again; "alternating": a cycle of two to eight different steps again; "error": the ' +
          'same error of steps with the same name, one after another.',
      }),
      by: nullable(by).meta({
        description:
          'What makes steps the same: "step" (default), its type, name and input; "input"; or a list of paths, such as ' +
          '["name", "input.url"].',
      }),
      repeat: integer({ min: 2, max: MAX_REPEAT }).meta({
        description:
          'Which repetition matches, the present step included: with 3, the third step that is the same.',
      }),
      within: z
        .object({
          last: nullable(integer({ min: 2, max: MAX_LAST })).meta({
            description: 'How many of the last steps of the key count, the present one included.',
          }),
          time: nullable(windowLength(maxUs)).meta({
            description: 'For how long steps count, such as "10m".',
          }),
        })
        .meta({ description: 'Which earlier steps count. One of last and time, or both.' }),
      count_denied: withDefault(boolean(), true).meta({
        description: 'Whether steps that are denied count as well. Default true.',
      }),
      ...commonMembers(['session']),
    })
    .transform((given, sink): LoopConfig => {
      const { pattern, by = 'step', repeat, within, count_denied, ...common } = given;
      const { last, time } = within;
      if (last === undefined && time === undefined) {
        report(sink, 'value_error', 'must have last or time', null, ['within']);
      }
      const least = pattern === 'alternating' ? 2 * repeat : repeat;
      if (last !== undefined && last < least) {
        const message = `must be at least ${least}, or the pattern ${pattern} never has ${repeat} repetitions`;
        report(sink, 'value_error', message, last, ['within', 'last']);
      }
      return {
        ...common,
        pattern,
        by,
        repeat,
        last: last ?? MAX_LAST,
        span: time ?? maxUs,
        hasTime: time !== undefined,
        countsDenied: count_denied,
      };
    });
}
