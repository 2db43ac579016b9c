import type { Sealing } from '../../contract/secrets/sealing.js';
import type { Database } from '../../storage/database/database.js';
import type { ApprovalAnswer, AskedStep } from '../decisions/approval-gate.js';
import { stepSha256 } from '../decisions/step-hash.js';
import type { Candidate } from './answering-approvals.js';
import { type ApprovalLimits, refusalOf } from './approval-limits.js';
import type { ApprovalMeter } from './approval-meter.js';
import { noticeOf } from './approval-row.js';
import { createApprovalStore } from './approval-store.js';
import { type Key, sha256, strictestReuse } from './binding.js';
import type { Evidence } from './evidence.js';
import { auditOf, type Found, refused, waits } from './gate-answers.js';
import { sealedStep } from './stored-step.js';
import { requesterOf } from './votes.js';

export interface ApprovalRequestOptions {
  readonly database: Pick<Database, 'client' | 'mutateAside'>;
  readonly sealing: Sealing;
  readonly limits: ApprovalLimits;
  readonly evidence: (asked: AskedStep) => Promise<Evidence | null>;
  readonly meter: ApprovalMeter;
  /** Told of every change that this process makes. */
  readonly changed: () => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const CHANGED = 'the controls or halts of the agent have changed; evaluate the step again';

/** Makes approvals that wait for people. `answerOf` is the answer of those that there are. */
export function createApprovalRequests(
  { database, sealing, limits, evidence, meter, changed, now }: ApprovalRequestOptions,
  answerOf: (candidates: readonly Candidate[], asked: AskedStep, key: Key, nowMs: number) => Found,
) {
  /** Asks, unless another evaluation has asked meanwhile. */
  async function create(asked: AskedStep, key: Key): Promise<ApprovalAnswer> {
    const { agentName, sessionId, stepId, target, step, controls, caller } = asked;
    const made = await evidence(asked);
    if (made === null) return refused(CHANGED);
    const rules = controls.flatMap(({ approval }) => approval ?? []);
    const approvers = [...new Set(rules.flatMap((rule) => rule.approvers))].sort();
    const group = sha256(JSON.stringify(approvers));
    const digest = stepSha256(step);
    const sealed = sealedStep(sealing, step, caller.namespace.name, digest);
    const answer = await database.mutateAside<ApprovalAnswer>(async (tx, entryNo) => {
      const nowMs = now();
      const store = createApprovalStore({ client: tx, namespace: caller.namespace });
      // Another evaluation may have asked meanwhile.
      const found = answerOf(await store.candidates(key.binding, key.call, nowMs), asked, key, nowMs);
      if (found !== null) return { value: found, audit: null };
      const counts = await store.counts(agentName, group, nowMs - limits.fatigueMs, nowMs);
      const refusal = refusalOf(counts, agentName, limits);
      if (refusal !== null) return { value: refused(refusal), audit: null };
      await store.displace(key.binding);
      const expiresAtMs = nowMs + 1000 * Math.min(...rules.map((rule) => rule.expiresSeconds));
      const row = {
        namespace: caller.namespace.name,
        agentName,
        sessionId,
        stepId,
        target,
        stepType: step.type,
        stepName: step.name,
        binding: key.binding,
        stepSha256: digest,
        question: made.question,
        controls: made.controls,
        reuse: strictestReuse(rules.map((rule) => rule.reuse)),
        ...requesterOf(caller.principal),
        askedAtMs: nowMs,
        expiresAtMs,
        changeNo: entryNo,
      };
      const more = { approverGroup: group, step: sealed, explanations: made.explanations };
      const id = await store.insert({ ...row, ...more });
      // Whatever changed between the evaluation and this transaction.
      if (await store.isLost(id, nowMs)) return { value: refused(CHANGED), audit: null };
      const after = {
        agent_name: agentName,
        step_name: step.name,
        step_sha256: digest,
        question: made.question,
        controls: made.controls.map((control) => ({ id: control.id, version: control.version })),
        expires_at: new Date(expiresAtMs).toISOString(),
      };
      const value = waits(noticeOf({ ...row, id, state: 'pending' }));
      return { value, audit: auditOf('approval.ask', id, asked, after, nowMs) };
    });
    if (answer.kind === 'waits') changed();
    meter.asked(answer.kind);
    return answer;
  }

  return { create };
}
