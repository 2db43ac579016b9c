import { z } from 'zod';
import { type JsonValue, parseJson } from '../../../packages/exact-json/src/index.js';
import {
  boolean,
  field,
  list,
  nullable,
  oneOf,
  refuse,
  refuseTyped,
  report,
  text,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { agentName } from '../../contract/input/names.js';
import { rowId } from '../../contract/input/numbers.js';
import { idPage } from '../../contract/input/paging.js';
import type { InputsOf } from '../../contract/input/parse-input.js';
import { millisecondsOf } from '../../contract/input/times.js';
import { isStorable } from '../../storage/database/text.js';
import { APPROVAL_STATES } from '../decisions/approval-gate.js';
import { jsonProblem } from '../decisions/evaluate-request.js';

const MAX_COMMENT_LENGTH = 1_000;
const MAX_REASON_LENGTH = 500;
const MAX_TEXT_LENGTH = 255;
const MAX_IDS = 1_000;
const MAX_WAIT_MS = 60_000;
const DEFAULT_WAIT_MS = 30_000;

/** A text of people that is stored, without blanks around it. */
const words = (max: number) =>
  field<string>(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      const read = value.trim();
      if (read === '') return refuse(sink, 'string_too_short', 'must have at least 1 character', value);
      if (read.length > max)
        return refuse(sink, 'string_too_long', `must have at most ${max} characters`, null);
      if (isStorable(read)) return read;
      return refuseTyped(sink, 'value_error', 'must not have NUL or half a surrogate pair', value);
    },
    { type: 'string', minLength: 1, maxLength: max },
  );

/** 0 to 60 seconds, in milliseconds. */
const wait = () =>
  field<number>(
    (value, sink) => {
      const rule = 'must be a duration of 0 to 60 seconds, such as "10s"';
      if (typeof value !== 'string') return refuse(sink, 'string_type', rule, value);
      const ms = millisecondsOf(value);
      return ms !== undefined && ms >= 0 && ms <= MAX_WAIT_MS ? ms : refuse(sink, 'value_error', rule, value);
    },
    { type: 'string', pattern: '^(-?[0-9]{1,12})(\\.[0-9]{1,9})?s$' },
  );

/** A value as JSON text, with all digits of its numbers. */
const jsonText = () =>
  field<JsonValue>(
    (value, sink) => {
      if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
      try {
        return parseJson(value, { duplicates: 'refuse' });
      } catch (error) {
        const problem = jsonProblem(error);
        if (problem === undefined) throw error;
        return refuse(sink, problem.code, problem.message, null);
      }
    },
    { type: 'string', contentMediaType: 'application/json' },
  );

/** The input of DecideApproval; null is an input too, so it is held by an object. */
const decided = z
  .object({
    approval_id: rowId,
    decision: oneOf(['approve', 'deny']),
    comment: nullable(words(MAX_COMMENT_LENGTH)),
    step_sha256: nullable(text({ pattern: /^[0-9a-f]{64}$/ })),
    narrowed_input_json: nullable(jsonText().transform((input) => ({ input }))),
  })
  .superRefine(({ decision, narrowed_input_json }, sink) => {
    if (decision === 'approve' || narrowed_input_json === undefined) return;
    report(sink, 'value_error', 'must not be sent with the decision deny', null, ['narrowed_input_json']);
  });

/** Input schemas of ApprovalService, by RPC. Members are in the order of the messages. */
export const approvalSchemas = {
  listApprovals: z.object({
    ...idPage,
    state: nullable(oneOf(APPROVAL_STATES)),
    agent_name: nullable(agentName()),
    session_id: nullable(text({ min: 1, max: MAX_TEXT_LENGTH })),
    control_id: nullable(rowId),
    decided_by: nullable(text({ min: 1, max: MAX_TEXT_LENGTH })),
    mine: nullable(boolean()),
  }),
  getApproval: z.object({ approval_id: rowId }),
  decideApproval: withExample(decided, { decision: 'approve', comment: 'agreed with the customer' }),
  cancelApproval: withExample(
    z.object({ approval_id: rowId, agent_name: agentName(), reason: nullable(words(MAX_REASON_LENGTH)) }),
    { agent_name: 'billing-bot-01', reason: 'the customer has left' },
  ),
  awaitApproval: z.object({
    approval_id: rowId,
    agent_name: agentName(),
    wait: withDefault(wait(), DEFAULT_WAIT_MS),
  }),
  watchApprovals: z.object({
    agent_name: nullable(agentName()),
    approval_ids: nullable(list(rowId, { max: MAX_IDS })),
    mine: nullable(boolean()),
  }),
};

/** Outputs of these schemas, by RPC. */
export type ApprovalInputs = InputsOf<typeof approvalSchemas>;
