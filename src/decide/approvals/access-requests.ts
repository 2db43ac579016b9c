import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import type { AccessRequestService as AccessRequestServiceDesc } from '../../../gen/proto/enforcement/v1/access_request_service_pb.js';
import { type CallContext, type HandlersOf, handler } from '../../contract/call/handler.js';
import { isoOf } from '../../contract/call/printed.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { freeObject, nullable, text, withExample } from '../../contract/input/fields.js';
import { agentName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import { approvalConflict } from './approval-errors.js';
import type { ApprovalRow } from './approval-row.js';
import type { ApprovalService } from './approval-service.js';
import { approvedBy } from './votes.js';

const MAX_TEXT_LENGTH = 255;

const entity = z.object({
  type: nullable(text({ max: MAX_TEXT_LENGTH })),
  id: nullable(text({ max: MAX_TEXT_LENGTH })),
  properties: nullable(freeObject()),
});
const byId = () => z.object({ agent_name: agentName(), request_id: integer() });

/** Input schemas of AccessRequestService, by RPC. Members are in the order of the messages. */
const schemas = {
  createAccessRequest: withExample(
    z.object({
      agent_name: agentName(),
      denial: z.object({
        evaluation_id: text(LIMITS.AccessDenial.evaluation_id),
        step_sha256: nullable(text(LIMITS.AccessDenial.step_sha256)),
      }),
      subject: nullable(entity),
      resource: nullable(entity),
      action: nullable(
        z.object({ name: nullable(text({ max: MAX_TEXT_LENGTH })), properties: nullable(freeObject()) }),
      ),
    }),
    { denial: { evaluation_id: '1' }, subject: { type: 'agent', id: 'billing-bot-01' } },
  ),
  getAccessRequest: byId(),
  cancelAccessRequest: withExample(byId(), {}),
};

type NewRequest = z.output<typeof schemas.createAccessRequest>;

export interface AccessRequestOptions {
  readonly approvals: Pick<ApprovalService, 'find' | 'cancel'>;
}

/** The RPCs of AccessRequestService: approvals as its draft shows them. */
export function createAccessRequests({
  approvals,
}: AccessRequestOptions): HandlersOf<typeof AccessRequestServiceDesc> {
  async function denied(input: NewRequest, context: CallContext): Promise<ApprovalRow> {
    const { agent_name: agent, denial, subject, resource } = input;
    let row: ApprovalRow;
    try {
      row = await approvals.find(context, Number(denial.evaluation_id), agent);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'APPROVAL_NOT_FOUND') {
        throw invalid(
          `evaluation_id ${denial.evaluation_id} is not the id of an approval of agent "${agent}"`,
        );
      }
      throw error;
    }
    if (denial.step_sha256 !== undefined && denial.step_sha256 !== row.stepSha256) {
      throw invalid(`denial.step_sha256 is not that of approval ${row.id}`);
    }
    if (subject?.id !== undefined && subject.id.trim().toLowerCase() !== agent) {
      throw invalid(`subject.id is not the agent "${agent}"`);
    }
    if (resource?.id !== undefined && resource.id !== row.stepName) {
      throw invalid(`resource.id is not the name of the step of approval ${row.id}`);
    }
    return row;
  }

  return {
    createAccessRequest: handler(schemas.createAccessRequest, async (input, context) => ({
      task: taskOf(await denied(input, context)),
    })),
    getAccessRequest: handler(schemas.getAccessRequest, async ({ agent_name, request_id }, context) => {
      const row = await approvals.find(context, request_id, agent_name);
      return { task: taskOf(row), ...(row.state === 'approved' ? { result: resultOf(row) } : {}) };
    }),
    cancelAccessRequest: handler(schemas.cancelAccessRequest, async ({ agent_name, request_id }, context) => {
      const before = await approvals.find(context, request_id, agent_name);
      if (before.state !== 'pending' && before.state !== 'approved') {
        throw approvalConflict(request_id, `is ${before.state}, and cannot be cancelled`);
      }
      await approvals.cancel(context, { agent_name, approval_id: request_id, reason: undefined });
      return { task: taskOf(await approvals.find(context, request_id, agent_name)) };
    }),
  };
}

function taskOf(row: ApprovalRow) {
  const { id, state, agentName, expiresAtMs, controls, votes } = row;
  const approving = votes.filter(({ decision }) => decision === 'approve');
  return {
    id: String(id),
    // An approval that was used up was approved.
    status: state === 'used' ? 'approved' : state,
    status_endpoint: `/access/v1/agents/${encodeURIComponent(agentName)}/requests/${id}`,
    expires_at: isoOf(expiresAtMs),
    progress:
      state !== 'pending'
        ? null
        : {
            current_step: Math.min(...controls.map((control) => approvedBy(control, approving))),
            total_steps: Math.max(...controls.map(({ quorum }) => quorum)),
            awaiting: [...new Set(controls.flatMap(({ approvers }) => approvers))],
          },
  };
}

function resultOf({ id, decidedAtMs, expiresAtMs }: ApprovalRow) {
  return {
    mode: 'reevaluate',
    approval: {
      id: String(id),
      approved_at: isoOf(decidedAtMs),
      approved_until: isoOf(expiresAtMs),
    },
  };
}

function invalid(problem: string): ServiceError {
  return new ServiceError('ACCESS_REQUEST_INVALID', {
    detail: `The request has no valid denial: ${problem}.`,
    hint: 'Evaluate the step again, and send the id of the approval of its verdict as denial.evaluation_id.',
  });
}
