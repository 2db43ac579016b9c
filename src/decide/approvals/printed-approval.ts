import { isoOf } from '../../contract/call/printed.js';
import { type ApprovalRow, allowed, rowAt } from './approval-row.js';
import { approvedBy } from './votes.js';

/** An approval as contained in replies, as it is at a time. */
export function printedApproval(stored: ApprovalRow, nowMs: number) {
  const row = rowAt(stored, nowMs);
  const approving = row.votes.filter(({ decision }) => decision === 'approve');
  return {
    id: row.id,
    state: row.state,
    agent_name: row.agentName,
    session_id: row.sessionId,
    step_id: row.stepId,
    step_type: row.stepType,
    step_name: row.stepName,
    question: row.question,
    step_sha256: row.stepSha256,
    controls: row.controls.map((control) => ({
      control_id: control.id,
      control_name: control.name,
      version: control.version,
      approvers: control.approvers,
      quorum: control.quorum,
      approved: approvedBy(control, approving),
      separate: control.separate,
    })),
    asked_at: isoOf(row.askedAtMs),
    asked_by: row.askedBy,
    expires_at: isoOf(row.expiresAtMs),
    decided_at: isoOf(row.decidedAtMs),
    used_at: isoOf(row.usedAtMs),
    uses: row.uses,
    ended_at: isoOf(row.endedAtMs),
    end_reason: row.endReason,
    votes: row.votes.map(({ person, decision, atMs, address, comment, stepSha256 }) => ({
      by: person,
      decision,
      at: isoOf(atMs),
      address,
      comment,
      step_sha256: stepSha256,
    })),
    allows: allowed(row.reuse),
    narrowed: row.narrowedBinding !== null,
  };
}
