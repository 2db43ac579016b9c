import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { Step } from '../../kernel/core/types.js';
import { originOfCall } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { approvalConflict, notApprover, wrongMember } from './approval-errors.js';
import type { ApprovalMeter } from './approval-meter.js';
import { type ApprovalRow, stateAt } from './approval-row.js';
import type { ApprovalInputs } from './approval-schemas.js';
import { type ApprovalChange, createApprovalStore, existingApproval } from './approval-store.js';
import { type NarrowedStep, narrowedStep } from './narrowing.js';
import { printedApproval } from './printed-approval.js';
import type { StepTrials } from './step-trials.js';
import { isApproved, isApprover, type Person, personOf } from './votes.js';

export interface ApprovalVoteOptions {
  readonly database: Pick<Database, 'client' | 'mutateAside'>;
  readonly sealing: Sealing;
  readonly meter: ApprovalMeter;
  readonly trials: Pick<StepTrials, 'denialByOthers'>;
  readonly onFailure: (error: unknown) => void;
  /** Told of every change that this process makes. */
  readonly changed: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Votes of people about approvals. */
export function createApprovalVotes(options: ApprovalVoteOptions) {
  const { database, sealing, trials, onFailure, meter, changed, now } = options;

  /** Warns of a step that an approver puts in the place of the one that waits, if controls deny it that did not ask. */
  async function standingDenials(context: CallContext, row: ApprovalRow, step: Step): Promise<Warning[]> {
    try {
      const reason = await trials.denialByOthers(context, row, step);
      if (reason === null) return [];
      const message = `the changed step cannot run, although it is approved: ${reason || 'it is denied'}`;
      return [{ code: 'denied_by_others', field: 'narrowed_input_json', message }];
    } catch (error) {
      // The vote counts all the same.
      onFailure(error);
      return [];
    }
  }

  return {
    /**
     * Votes. The same vote of the same person again changes nothing. Throws APPROVAL_NOT_FOUND, AUTH_INSUFFICIENT_PRIVILEGES,
     * APPROVAL_CONFLICT, or VALIDATION_ERROR for a narrowed input that cannot be one of the step.
     */
    async decide(context: CallContext, input: ApprovalInputs['decideApproval']) {
      const { approval_id: id, decision } = input;
      const comment = input.comment ?? null;
      const found = await existingApproval(createApprovalStore(scopeOf(context, database.client)), id);
      const person = personOf(context.principal);
      const objection = objectionOf(found, person);
      if (person === null || objection !== null) throw notApprover(objection ?? 'it has no name');
      const isNew = found.votes.every((vote) => vote.person !== person.person);
      const sent = input.narrowed_input_json;
      // Before the transaction, which blocks all others.
      const narrowed =
        sent === undefined || !isNew || stateAt(found, now()) !== 'pending'
          ? null
          : await narrowedStep(
              createApprovalStore(scopeOf(context, database.client)),
              sealing,
              found,
              sent.input,
            );
      const row = await database.mutateAside<ApprovalRow>(async (tx, entryNo) => {
        const nowMs = now();
        const store = createApprovalStore(scopeOf(context, tx));
        const before = await existingApproval(store, id);
        const own = before.votes.find((vote) => vote.person === person.person);
        if (own !== undefined) {
          if (own.decision === decision && own.comment === comment) return { value: before, audit: null };
          throw approvalConflict(id, `has another vote of ${person.person}, who has only one`);
        }
        demandVotable(before, input, narrowed, nowMs);
        const vote = {
          ...person,
          decision,
          atMs: nowMs,
          address: context.address,
          comment,
          stepSha256: narrowed?.stored.stepSha256 ?? before.stepSha256,
        };
        await store.addVote(id, vote);
        const votes = [...before.votes, vote].filter((one) => one.decision === 'approve');
        const isDone = decision === 'approve' && isApproved(before.controls, votes, before);
        const change = changeOf(before, decision, isDone, nowMs);
        const after = await store.update(id, { ...change, ...narrowed?.stored, changeNo: entryNo });
        const action = decision === 'deny' ? 'approval.deny' : isDone ? 'approval.approve' : 'approval.vote';
        return {
          value: after,
          audit: approvalAudit(action, after, context, factsOf(vote, narrowed, after), nowMs),
        };
      });
      if (isNew) {
        changed();
        if (row.state === 'approved' || row.state === 'denied') meter.ended(row.state, 1);
      }
      const warnings = narrowed === null ? [] : await standingDenials(context, row, narrowed.step);
      return { approval: printedApproval(row, now()), warnings };
    },
  };
}

/** What is wrong with the vote of a caller; null if it can be counted. */
export function objectionOf({ controls }: ApprovalRow, person: Person | null): string | null {
  if (person === null) return 'it has no name: a key or a token is needed';
  const isAny = controls.some(({ approvers }) => isApprover(approvers, person));
  return isAny ? null : 'it is not an approver of a control that asks';
}

/** Throws APPROVAL_CONFLICT unless a first vote of a person can be counted now. */
function demandVotable(
  row: ApprovalRow,
  { step_sha256: seen, narrowed_input_json: sent }: ApprovalInputs['decideApproval'],
  narrowed: NarrowedStep | null,
  nowMs: number,
): void {
  const state = stateAt(row, nowMs);
  if (state !== 'pending') throw approvalConflict(row.id, `is ${state}, and cannot be decided`);
  if (seen !== undefined && seen !== row.stepSha256) {
    throw approvalConflict(row.id, `waits with another step, with the step_sha256 ${row.stepSha256}`);
  }
  if (sent !== undefined && row.votes.length > 0) {
    throw approvalConflict(row.id, 'has votes about its step, which cannot be narrowed any more');
  }
  if (seen === undefined && row.narrowedBinding !== null && narrowed === null) {
    throw wrongMember('step_sha256', 'missing', 'is needed, because an approver has changed the step');
  }
}

function changeOf(
  { reuse }: ApprovalRow,
  decision: 'approve' | 'deny',
  isDone: boolean,
  nowMs: number,
): Omit<ApprovalChange, 'changeNo'> {
  if (decision === 'deny') return { state: 'denied', decidedAtMs: nowMs, endedAtMs: nowMs };
  if (!isDone) return {};
  // A time of reuse begins with the approval.
  const until = typeof reuse === 'object' ? { expiresAtMs: nowMs + reuse.seconds * 1000 } : {};
  return { state: 'approved', decidedAtMs: nowMs, ...until };
}

function factsOf(
  { decision, comment, stepSha256 }: { decision: string; comment: string | null; stepSha256: string },
  narrowed: NarrowedStep | null,
  { question, state }: ApprovalRow,
) {
  return {
    decision,
    ...(comment === null ? {} : { comment }),
    question,
    step_sha256: stepSha256,
    ...(narrowed === null ? {} : { narrowed: true }),
    state,
  };
}

/** The entry of the audit log about what a person or an agent did with an approval. */
export function approvalAudit(
  action: `approval.${string}`,
  row: ApprovalRow,
  context: CallContext,
  after: { readonly [member: string]: JsonValue },
  nowMs: number,
) {
  const origin = originOfCall(context, nowMs);
  const before = null;
  return {
    action,
    resource: 'approval',
    id: String(row.id),
    name: row.stepName,
    before,
    after,
    origin,
  } as const;
}
