import { z } from 'zod';
import { nullable, report, text, withDefault, withExample } from '../../contract/input/fields.js';
import { agentName } from '../../contract/input/names.js';
import { number, rowId } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { stepSchema } from '../../decide/decisions/evaluate-request.js';

const DEFAULT_MIN_USED = 0.5;
const MAX_REASON_LENGTH = 500;
/** Longest id of a key, and of a session. */
const MAX_ID_LENGTH = 255;

const id = () => nullable(text({ min: 1, max: MAX_ID_LENGTH }));

const keyName = z
  .object({
    control_id: rowId,
    key_id: id(),
    agent_name: nullable(agentName()),
    session_id: id(),
    step: nullable(stepSchema),
  })
  .superRefine(({ key_id, agent_name, session_id, step }, sink) => {
    if (key_id === undefined || (agent_name ?? session_id ?? step) === undefined) return;
    const rule = 'must not be combined with agent_name, session_id and step: they name the key, too';
    report(sink, 'value_error', rule, key_id, ['key_id']);
  });

const EXAMPLE = { key: { control_id: 4, agent_name: 'billing-bot-01' } };

/** Input schemas of MemoryService, by RPC. Members are in the order of the messages. */
export const limitSchemas = {
  listLimits: z.object({
    min_used: withDefault(number({ max: 1 }), DEFAULT_MIN_USED).superRefine((share, sink) => {
      if (!(share > 0)) report(sink, 'greater_than', 'must be greater than 0', share);
    }),
    control_id: nullable(rowId),
    limit: pageSize({ preset: 50 }),
  }),
  getMemoryKey: withExample(z.object({ key: keyName }), EXAMPLE),
  resetMemoryKey: withExample(
    z.object({ key: keyName, reason: nullable(text({ max: MAX_REASON_LENGTH })) }),
    { ...EXAMPLE, reason: 'The budget of the customer was raised.' },
  ),
  getMemoryStatus: z.object({}),
};

/** Outputs of these schemas, by RPC. */
export type LimitInputs = InputsOf<typeof limitSchemas>;
