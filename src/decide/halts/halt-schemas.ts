import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import {
  field,
  nullable,
  oneOf,
  refuse,
  refuseTyped,
  report,
  shownText,
  withExample,
} from '../../contract/input/fields.js';
import { agentName, FREE_LINE, line } from '../../contract/input/names.js';
import { rowId } from '../../contract/input/numbers.js';
import { idPage } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { futureTime } from '../../contract/input/times.js';
import { idempotencyKey } from '../../storage/database/idempotency.js';
import { isStorable } from '../../storage/database/text.js';
import { HALT_SCOPES, type HaltScope } from './halt.js';

export const HALT_STATES = ['active', 'lifted', 'expired'] as const;

const { step_name: length, reason: reasonLength, expires_at: days } = LIMITS.CreateHaltRequest;

const reason = line(reasonLength, FREE_LINE);

/** A text that steps are compared with as it is. */
const exactText = () =>
  field<string>((value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    if (value === '') return refuse(sink, 'string_too_short', 'must have at least 1 character', value);
    if (value.length <= length.max && isStorable(value)) return value;
    const rule = `must have 1 to ${length.max} characters, without NUL and halves of surrogate pairs`;
    return refuseTyped(sink, 'value_error', rule, value);
  }, shownText(length));

type Part = 'agent_name' | 'session_id' | 'step_name';

/** Which members say what a halt of each scope denies; those of `optional` may be absent. */
const PARTS: Record<HaltScope, { readonly required: readonly Part[]; readonly optional?: readonly Part[] }> =
  {
    step_name: { required: ['step_name'], optional: ['agent_name'] },
    session: { required: ['agent_name', 'session_id'] },
    agent: { required: ['agent_name'] },
    namespace: { required: [] },
    installation: { required: [] },
  };

/** Input schemas of HaltService, by RPC. Members are in the order of the messages. `now`: milliseconds since 1970. */
export function createHaltSchemas(now: () => number) {
  const created = z
    .object({
      scope: oneOf(HALT_SCOPES),
      agent_name: nullable(agentName()),
      session_id: nullable(exactText()),
      step_name: nullable(exactText()),
      reason,
      expires_at: nullable(futureTime(now, days)),
      idempotency_key: nullable(idempotencyKey()),
    })
    .superRefine((input, sink) => {
      const { required, optional = [] } = PARTS[input.scope];
      for (const part of ['agent_name', 'session_id', 'step_name'] as const) {
        const isGiven = input[part] !== undefined;
        if (!isGiven && required.includes(part)) {
          report(sink, 'missing', `Field required with the scope ${input.scope}`, undefined, [part]);
        } else if (isGiven && !required.includes(part) && !optional.includes(part)) {
          report(sink, 'value_error', `must not be sent with the scope ${input.scope}`, input[part], [part]);
        }
      }
    });
  return {
    createHalt: withExample(created, {
      scope: 'step_name',
      agent_name: 'billing-bot-01',
      step_name: 'delete_account',
      reason: 'deletes accounts of other customers',
    }),
    listHalts: z.object({ ...idPage, state: nullable(oneOf(HALT_STATES)) }),
    getHalt: z.object({ halt_id: rowId }),
    liftHalt: withExample(z.object({ halt_id: rowId, reason: nullable(reason) }), {
      reason: 'the prompt is mended',
    }),
  };
}

/** Outputs of these schemas, by RPC. */
export type HaltInputs = InputsOf<ReturnType<typeof createHaltSchemas>>;
