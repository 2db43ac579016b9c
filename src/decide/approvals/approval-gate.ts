import { orAborted } from '../../contract/call/or-aborted.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { Step } from '../../kernel/core/types.js';
import { originOfCall } from '../../storage/database/audit-log.js';
import type { Database, DbClient } from '../../storage/database/database.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import type {
  ApprovalAnswer,
  ApprovalGate,
  ApprovalNotice,
  AskedStep,
  UsedApproval,
} from '../decisions/approval-gate.js';
import { stepSha256 } from '../decisions/step-hash.js';
import { type ApprovalLimits, refusalOf } from './approval-limits.js';
import type { ApprovalMeter } from './approval-meter.js';
import { noticeOf } from './approval-row.js';
import { type Candidate, createApprovalStore } from './approval-store.js';
import { type Key, keyOf, sha256, strictestReuse } from './binding.js';
import type { Evidence } from './evidence.js';
import { sealedStep, stepIn } from './stored-step.js';
import { requesterOf } from './votes.js';

export interface ApprovalGateOptions {
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

type Unusable = Exclude<ApprovalAnswer, { kind: 'approved' }>;
/** An answer, or that there is none yet. */
type Found = ApprovalAnswer | null;

/** How often an approval that another evaluation took is looked for again. */
const MAX_ATTEMPTS = 3;

/**
 * Asks people about steps. A step that waits is answered with one query; a new approval, and its use, are one transaction
 * each.
 */
export function createApprovalGate(options: ApprovalGateOptions): ApprovalGate {
  const { database, sealing, limits, evidence, meter, changed, now } = options;

  async function ask(asked: AskedStep): Promise<ApprovalAnswer> {
    const key = keyOf(asked);
    if ('refusal' in key) return refused(key.refusal);
    const found = await lookUp(database.client, asked, key);
    return found ?? (await create(asked, key));
  }

  async function lookUp(client: DbClient, asked: AskedStep, key: Key): Promise<Found> {
    const nowMs = now();
    const { namespace } = asked.caller;
    const store = createApprovalStore({ client, namespace });
    return answerOf(await store.candidates(key.binding, key.call, nowMs), asked, key, nowMs);
  }

  function answerOf(candidates: readonly Candidate[], asked: AskedStep, key: Key, nowMs: number): Found {
    const valid = candidates.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    const repeated = valid.find(({ isRepeat }) => isRepeat);
    if (repeated !== undefined) return approved(repeated, asked, key);
    const live = valid.filter(({ isLive }) => isLive);
    const own = live.find(({ binding }) => binding === key.binding);
    if (own?.state === 'denied') {
      const comment = own.comment === null ? '' : `: ${own.comment}`;
      return { kind: 'refused', notice: noticeOf(own), reason: `approval ${own.id} was denied${comment}` };
    }
    const usable = live.find(({ state }) => state === 'approved');
    if (usable !== undefined) return approved(usable, asked, key);
    const waiting = own ?? live.find(({ state }) => state === 'pending');
    return waiting === undefined ? null : waits(noticeOf(waiting));
  }

  function approved(row: Candidate, asked: AskedStep, key: Key): ApprovalAnswer {
    const notice = noticeOf(row);
    let narrowed: Step | null = null;
    if (row.narrowedStep !== null && stepSha256(asked.step) !== row.stepSha256) {
      narrowed = stepIn(sealing, row.narrowedStep, asked.caller.namespace.name, row.stepSha256);
      if (narrowed === null) {
        return {
          kind: 'refused',
          notice,
          reason: `the step of approval ${row.id} cannot be read with the present key`,
        };
      }
    }
    const use = row.isRepeat
      ? async () => usedBefore(notice)
      : () => guarded(asked, () => useOf(row, asked, key));
    return { kind: 'approved', notice, narrowed, use };
  }

  /** Rejects with a `ServiceError` only. */
  async function useOf(row: Candidate, asked: AskedStep, key: Key): Promise<UsedApproval | Unusable> {
    let current = row;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (await consume(current, asked, key)) {
        changed();
        meter.used();
        const used = current;
        return {
          notice: noticeOf({ ...used, state: used.reuse === 'once' ? 'used' : 'approved' }),
          giveBack: () => giveBack(used, asked),
        };
      }
      const nowMs = now();
      const store = createApprovalStore({ client: database.client, namespace: asked.caller.namespace });
      const candidates = await store.candidates(key.binding, key.call, nowMs);
      const answer = answerOf(candidates, asked, key, nowMs) ?? (await create(asked, key));
      if (answer.kind !== 'approved') return answer;
      const next = candidates.find(({ id }) => id === answer.notice.id);
      // The same call was faster, in another process. An approver who changed the step meanwhile is heard by the next call.
      if (next?.isRepeat === true && answer.narrowed === null) return usedBefore(answer.notice);
      if (next === undefined || answer.narrowed !== null) break;
      current = next;
    }
    return refused(`approval ${row.id} was used by others meanwhile; evaluate the step again`);
  }

  function consume(row: Candidate, asked: AskedStep, { call }: Key): Promise<boolean> {
    const { caller } = asked;
    return database.mutateAside(async (tx, entryNo) => {
      const nowMs = now();
      const store = createApprovalStore({ client: tx, namespace: caller.namespace });
      if (!(await store.use(row.id, row.reuse, call, nowMs, entryNo))) return { value: false, audit: null };
      const after = {
        step_sha256: row.stepSha256,
        ...(asked.stepId === null ? {} : { step_id: asked.stepId }),
      };
      return { value: true, audit: auditOf('approval.use', row.id, asked, after, nowMs) };
    });
  }

  async function giveBack(row: Candidate, asked: AskedStep): Promise<void> {
    const { caller } = asked;
    try {
      const isBack = await loadedInTime(
        database.mutateAside(async (tx, entryNo) => {
          const store = createApprovalStore({ client: tx, namespace: caller.namespace });
          if (!(await store.giveBack(row.id, row.reuse, entryNo))) return { value: false, audit: null };
          const after = { step_sha256: row.stepSha256 };
          return { value: true, audit: auditOf('approval.give_back', row.id, asked, after, now()) };
        }),
        'The approval could not be given back in time.',
      );
      if (isBack) changed();
    } catch {
      // It stays used, so that no other step runs by it.
    }
  }

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

  /** Whatever goes wrong, the step is refused: it must not run by mistake. */
  async function guarded<T>(asked: AskedStep, work: () => Promise<T>): Promise<T | Unusable> {
    const { signal } = asked.caller;
    try {
      return await orAborted(loadedInTime(work(), 'The approval could not be read in time.'), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const why = error instanceof ServiceError ? error.options.detail : 'an internal error';
      return refused(`approvals cannot be used now: ${why}`);
    }
  }

  return { ask: (asked) => guarded(asked, () => ask(asked)) };
}

function usedBefore(notice: ApprovalNotice): UsedApproval {
  return { notice, giveBack: async () => undefined };
}

const CHANGED = 'the controls or halts of the agent have changed; evaluate the step again';

function refused(reason: string): Unusable {
  return { kind: 'refused', notice: null, reason };
}

function waits(notice: ApprovalNotice): Unusable {
  const names = notice.controls.map(({ name }) => `"${name}"`).join(', ');
  const of = notice.controls.length === 1 ? 'control' : 'controls';
  return { kind: 'waits', notice, reason: `approval ${notice.id} is needed, for ${of} ${names}` };
}

function auditOf(
  action: 'approval.ask' | 'approval.use' | 'approval.give_back',
  id: number,
  { caller, step }: AskedStep,
  after: { readonly [member: string]: string | number | { id: number; version: number }[] },
  nowMs: number,
) {
  const origin = originOfCall(caller, nowMs);
  return {
    action,
    resource: 'approval',
    id: String(id),
    name: step.name,
    before: null,
    after,
    origin,
  } as const;
}
