import { orAborted } from '../../contract/call/or-aborted.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import type { Step } from '../../kernel/core/types.js';
import type { DbClient } from '../../storage/database/database.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import type { ApprovalAnswer, ApprovalGate, AskedStep, UsedApproval } from '../decisions/approval-gate.js';
import { stepSha256 } from '../decisions/step-hash.js';
import type { Candidate } from './answering-approvals.js';
import { type ApprovalRequestOptions, createApprovalRequests } from './approval-requests.js';
import { noticeOf } from './approval-row.js';
import { createApprovalStore } from './approval-store.js';
import { type Key, keyOf } from './binding.js';
import { auditOf, type Found, refused, type Unusable, usedBefore, waits } from './gate-answers.js';
import { stepIn } from './stored-step.js';

/** How often an approval that another evaluation took is looked for again. */
const MAX_ATTEMPTS = 3;

/**
 * Asks people about steps. A step that waits is answered with one query; a new approval, and its use, are one transaction
 * each.
 */
export function createApprovalGate(options: ApprovalRequestOptions): ApprovalGate {
  const { database, sealing, meter, changed, now } = options;
  const { create } = createApprovalRequests(options, answerOf);

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

  return { ask: (asked) => guarded(asked, () => ask(asked)) };
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
