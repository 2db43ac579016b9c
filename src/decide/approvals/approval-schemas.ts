import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
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
  shownText,
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

const DEFAULT_WAIT_MS = 30_000;

/** A text of people that is stored, without blanks around it. */
const words = (limits: { readonly min: 1; readonly max: number }) =>
  field<string>((value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    const read = value.trim();
    if (read === '') return refuse(sink, 'string_too_short', 'must have at least 1 character', value);
    if (read.length > limits.max)
      return refuse(sink, 'string_too_long', `must have at most ${limits.max} characters`, null);
    if (isStorable(read)) return read;
    return refuseTyped(sink, 'value_error', 'must not have NUL or half a surrogate pair', value);
  }, shownText(limits));

/** In milliseconds. */
const wait = ({ min, max } = LIMITS.AwaitApprovalRequest.wait) =>
  field<number>(
    (value, sink) => {
      const rule = `must be a duration of ${min / 1_000} to ${max / 1_000} seconds, such as "10s"`;
      if (typeof value !== 'string') return refuse(sink, 'string_type', rule, value);
      const ms = millisecondsOf(value);
      return ms !== undefined && ms >= min && ms <= max ? ms : refuse(sink, 'value_error', rule, value);
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
    comment: nullable(words(LIMITS.DecideApprovalRequest.comment)),
    step_sha256: nullable(text(LIMITS.DecideApprovalRequest.step_sha256)),
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
    session_id: nullable(text(LIMITS.ListApprovalsRequest.session_id)),
    control_id: nullable(rowId),
    decided_by: nullable(text(LIMITS.ListApprovalsRequest.decided_by)),
    mine: nullable(boolean()),
  }),
  getApproval: z.object({ approval_id: rowId }),
  decideApproval: withExample(decided, { decision: 'approve', comment: 'agreed with the customer' }),
  cancelApproval: withExample(
    z.object({
      approval_id: rowId,
      agent_name: agentName(),
      reason: nullable(words(LIMITS.CancelApprovalRequest.reason)),
    }),
    { agent_name: 'billing-bot-01', reason: 'the customer has left' },
  ),
  awaitApproval: z.object({
    approval_id: rowId,
    agent_name: agentName(),
    wait: withDefault(wait(), DEFAULT_WAIT_MS),
  }),
  watchApprovals: z.object({
    agent_name: nullable(agentName()),
    approval_ids: nullable(list(rowId, LIMITS.WatchApprovalsRequest.approval_ids)),
    mine: nullable(boolean()),
  }),
};

/** Outputs of these schemas, by RPC. */
export type ApprovalInputs = InputsOf<typeof approvalSchemas>;
