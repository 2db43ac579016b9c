import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { nullable, report, text, withDefault, withExample } from '../../contract/input/fields.js';
import { agentName } from '../../contract/input/names.js';
import { number, rowId } from '../../contract/input/numbers.js';
import { pageSize } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { stepSchema } from '../../decide/decisions/evaluate-request.js';

const DEFAULT_MIN_USED = 0.5;
const keyName = z
  .object({
    control_id: rowId,
    key_id: nullable(text(LIMITS.MemoryKeyName.key_id)),
    agent_name: nullable(agentName()),
    session_id: nullable(text(LIMITS.MemoryKeyName.session_id)),
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
    min_used: withDefault(number(LIMITS.ListLimitsRequest.min_used), DEFAULT_MIN_USED),
    control_id: nullable(rowId),
    limit: pageSize(LIMITS.ListLimitsRequest.limit, 50),
  }),
  getMemoryKey: withExample(z.object({ key: keyName }), EXAMPLE),
  resetMemoryKey: withExample(
    z.object({ key: keyName, reason: nullable(text(LIMITS.ResetMemoryKeyRequest.reason)) }),
    { ...EXAMPLE, reason: 'The budget of the customer was raised.' },
  ),
  getMemoryStatus: z.object({}),
};

/** Outputs of these schemas, by RPC. */
export type LimitInputs = InputsOf<typeof limitSchemas>;
