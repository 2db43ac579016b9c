import { parseStoredJson } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import { paginationOf } from '../../contract/call/page.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { type ApprovalRow, rowAt, stateAt } from './approval-row.js';
import type { ApprovalInputs } from './approval-schemas.js';
import { createApprovalStore, existingApproval } from './approval-store.js';
import {
  type ApprovalVoteOptions,
  approvalAudit,
  createApprovalVotes,
  objectionOf,
} from './approval-votes.js';
import { storedStep } from './narrowing.js';
import { printedApproval } from './printed-approval.js';
import { shownStep } from './shown-step.js';
import { personOf } from './votes.js';

export type ApprovalService = ReturnType<typeof createApprovalService>;

/** Lists, shows, decides and cancels approvals. */
export function createApprovalService(options: ApprovalVoteOptions) {
  const { database, sealing, meter, changed, now } = options;
  const storeOf = (context: CallContext) => createApprovalStore(scopeOf(context, database.client));

  return {
    ...createApprovalVotes(options),

    /** One page, newest first. */
    async list(context: CallContext, input: ApprovalInputs['listApprovals']) {
      const nowMs = now();
      const { principal } = context;
      const page = await storeOf(context).list({
        cursor: input.cursor,
        limit: input.limit,
        state: input.state ?? null,
        agentName: input.agent_name ?? null,
        sessionId: input.session_id ?? null,
        controlId: input.control_id ?? null,
        decidedBy: input.decided_by ?? null,
        approver: input.mine === true ? (personOf(principal) ?? { name: null, role: null }) : null,
        nowMs,
      });
      return {
        approvals: page.rows.map((row) => printedApproval(row, nowMs)),
        pagination: paginationOf(page, input.limit),
      };
    },

    /** Everything that an approver sees. Throws APPROVAL_NOT_FOUND. */
    async get(context: CallContext, approvalId: number) {
      const store = storeOf(context);
      const row = await existingApproval(store, approvalId);
      const nowMs = now();
      const step = await storedStep(store, sealing, row);
      const shown = step === null ? null : shownStep(step);
      const explanations = (await store.evidence(approvalId))?.explanations ?? '[]';
      const person = personOf(context.principal);
      const state = stateAt(row, nowMs);
      const objection =
        objectionOf(row, person) ??
        (row.votes.some((vote) => vote.person === person?.person) ? 'it has voted' : null) ??
        (state === 'pending' ? null : `the approval is ${state}`);
      return {
        approval: printedApproval(row, nowMs),
        step_json: shown?.text ?? null,
        step_shortened: shown?.shortened ?? false,
        explanations: parseStoredJson(explanations),
        can_decide: objection === null,
        cannot_decide_because: objection,
      };
    },

    /** Ending one that is not open changes nothing. Throws APPROVAL_NOT_FOUND, also for one of another agent. */
    async cancel(context: CallContext, input: ApprovalInputs['cancelApproval']) {
      const {
        approval_id: id,
        agent_name: agentName,
        reason = 'the agent does not need it any more',
      } = input;
      let isEnded = false;
      const row = await database.mutateAside<ApprovalRow>(async (tx, entryNo) => {
        const nowMs = now();
        const store = createApprovalStore(scopeOf(context, tx));
        const before = await existingApproval(store, id, agentName);
        const state = stateAt(before, nowMs);
        if (state !== 'pending' && state !== 'approved') return { value: before, audit: null };
        const end = { state: 'cancelled', endedAtMs: nowMs, endReason: reason, liveKey: null } as const;
        const after = await store.update(id, { ...end, changeNo: entryNo });
        isEnded = true;
        return { value: after, audit: approvalAudit('approval.cancel', after, context, { reason }, nowMs) };
      });
      if (isEnded) {
        changed();
        meter.ended('cancelled', 1);
      }
      return { approval: printedApproval(row, now()) };
    },

    /** An approval as it is now; null if none has this id. */
    async findAny(context: CallContext, approvalId: number): Promise<ApprovalRow | null> {
      const row = await storeOf(context).find(approvalId);
      return row === null ? null : rowAt(row, now());
    },

    /** An approval as it is now. Throws APPROVAL_NOT_FOUND, also for one of another agent. */
    async find(context: CallContext, approvalId: number, agentName: string): Promise<ApprovalRow> {
      return rowAt(await existingApproval(storeOf(context), approvalId, agentName), now());
    },
  };
}
