import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  field,
  flag,
  listOrNone,
  nullable,
  refuseTyped,
  report,
  shownText,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { agentName } from '../../contract/input/names.js';
import { integer, number, rowId } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { futureTime } from '../../contract/input/times.js';
import { isSelectorPath } from '../../kernel/core/selector.js';
import { createPatternBudget } from '../../manage/templates/pattern-budget.js';
import { isStorable } from '../../storage/database/text.js';
import { readSampleCursor } from './sample-cursor.js';

const limits = LIMITS.CreateSamplingRuleRequest;
const { max: MAX_PATH_LENGTH } = limits.masked_paths.items;

const share = field<number>(
  (value, sink) => {
    const read = number(limits.share).safeParse(value);
    if (read.success) return read.data;
    return refuseTyped(sink, 'value_error', 'must be a number above 0, and at most 1', value);
  },
  { type: 'number', exclusiveMinimum: 0, maximum: 1 },
);

const path = field<string>((value, sink) => {
  if (
    typeof value === 'string' &&
    value.length <= MAX_PATH_LENGTH &&
    isStorable(value) &&
    isSelectorPath(value)
  ) {
    return value;
  }
  const rule = `must be a selector path of at most ${MAX_PATH_LENGTH} characters, such as "input.password"`;
  return refuseTyped(sink, 'value_error', rule, value);
}, shownText(limits.masked_paths.items));

/** Input schemas of SampleService but those of replays, by RPC. `now`: milliseconds since 1970. */
export function createSampleSchemas(now: () => number) {
  const created = z
    .object({
      agent_name: nullable(agentName()),
      control_id: nullable(rowId),
      share: withDefault(share, 0.01),
      masked_paths: listOrNone(path, limits.masked_paths),
      masked_patterns: listOrNone(text(limits.masked_patterns.items), limits.masked_patterns),
      max_bytes: withDefault(integer(limits.max_bytes), 16_384),
      retention_hours: withDefault(integer(limits.retention_hours), 168),
      ends_at: nullable(futureTime(now, limits.ends_at)),
    })
    .superRefine(({ masked_patterns: patterns }, sink) => {
      const budget = createPatternBudget();
      for (const [at, pattern] of patterns.entries()) {
        const problem = isStorable(pattern) ? budget.problemOf(pattern) : 'must not contain NUL characters';
        if (problem !== null) report(sink, 'value_error', problem, pattern, ['masked_patterns', at]);
      }
    });
  return {
    createSamplingRule: withExample(created, {
      agent_name: 'billing-bot-01',
      share: 1,
      masked_paths: ['input.customer'],
      masked_patterns: ['ACC-[0-9]{6}'],
      retention_hours: 72,
    }),
    listSamplingRules: z.object({}),
    deleteSamplingRule: z.object({ rule_id: rowId, delete_samples: flag() }),
    listSamples: z.object({
      cursor: nullable(
        field(
          (value, sink) => {
            const read = typeof value === 'string' ? readSampleCursor(value) : undefined;
            return (
              read ?? refuseTyped(sink, 'value_error', 'must be the next_cursor of a previous page', value)
            );
          },
          { type: 'string' },
        ),
      ),
      limit: pageSize(),
      agent_name: nullable(agentName()),
      rule_id: nullable(rowId),
    }),
    getSample: z.object({ decision_id: text(LIMITS.GetSampleRequest.decision_id) }),
  };
}

/** Outputs of these schemas, by RPC. */
export type SampleInputs = InputsOf<ReturnType<typeof createSampleSchemas>>;
