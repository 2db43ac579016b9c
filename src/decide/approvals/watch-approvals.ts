import type { CallContext } from '../../contract/call/handler.js';
import { createPause, HEARTBEAT_MS } from '../../contract/call/news-pause.js';
import { scopeMask } from '../../contract/call/scopes.js';
import { wrongMember } from './approval-errors.js';
import { type ApprovalFeed, ApprovalWatcher } from './approval-feed.js';
import { type ApprovalRow, rowAt } from './approval-row.js';
import type { ApprovalInputs } from './approval-schemas.js';
import type { ApprovalService } from './approval-service.js';
import { printedApproval } from './printed-approval.js';
import { isApprover, personOf } from './votes.js';

export interface WatchApprovalsOptions {
  readonly feed: ApprovalFeed;
  readonly service: ApprovalService;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly heartbeatMs?: number;
}

const READS_ALL = scopeMask(['approvals.read']);
const PAGE = 100;
const HEARTBEAT = { heartbeat: {} };

/** Waiting for approvals: in a stream for inboxes, and in a call for an agent. */
export function createWatchApprovals(options: WatchApprovalsOptions) {
  const { feed, service, now, heartbeatMs = HEARTBEAT_MS } = options;
  const approvalOf = (row: ApprovalRow) => ({ approval: printedApproval(row, now()) });

  /** The approvals that a stream begins with: those with these ids, or all that match and are pending. */
  async function* first(input: ApprovalInputs['watchApprovals'], context: CallContext) {
    const { approval_ids: ids, agent_name, mine } = input;
    if (ids !== undefined) {
      const passes = filterOf(input, context);
      for (const id of new Set(ids)) {
        const row = await service.findAny(context, id);
        if (row !== null && passes(row)) yield printedApproval(row, now());
      }
      return;
    }
    for (let cursor: number | null = null; ; ) {
      const page = { state: 'pending', limit: PAGE, agent_name, mine, cursor } as const;
      const { approvals, pagination } = await service.list(context, page as ApprovalInputs['listApprovals']);
      yield* approvals;
      if (!pagination.has_more) return;
      cursor = approvals.at(-1)?.id ?? null;
    }
  }

  return {
    /** Implements WatchApprovals. */
    async *watch(input: ApprovalInputs['watchApprovals'], context: CallContext): AsyncGenerator<object> {
      const { signal, principal } = context;
      if (input.agent_name === undefined && (principal.scopes & READS_ALL) === 0n) {
        throw wrongMember('agent_name', 'missing', 'is needed by a caller without the scope approvals.read');
      }
      const watcher = new ApprovalWatcher(filterOf(input, context));
      await feed.join(watcher);
      const pause = createPause(watcher, signal);
      try {
        watcher.isOutdated = true;
        while (!signal.aborted) {
          if (watcher.failure !== null) throw watcher.failure;
          if (watcher.isOutdated) {
            watcher.isOutdated = false;
            for await (const approval of first(input, context)) yield { approval };
            yield HEARTBEAT;
          }
          const row = watcher.next();
          if (row !== null) yield approvalOf(row);
          else if (await pause.next(heartbeatMs)) yield HEARTBEAT;
        }
      } finally {
        pause.end();
        feed.leave(watcher);
      }
    },

    /**
     * Implements AwaitApproval. Answers with what is known when the time is over, the caller leaves or the server drains. Throws
     * APPROVAL_NOT_FOUND or SERVICE_UNAVAILABLE.
     */
    async wait(input: ApprovalInputs['awaitApproval'], context: CallContext): Promise<object> {
      const { approval_id: id, agent_name: agentName, wait: waitMs } = input;
      const endMs = now() + waitMs;
      let row = await service.find(context, id, agentName);
      if (row.state !== 'pending' || waitMs === 0) return approvalOf(row);
      const watcher = new ApprovalWatcher((changed) => changed.id === id);
      await feed.join(watcher);
      const pause = createPause(watcher, context.signal);
      try {
        // It may have been decided before the feed was joined.
        row = await service.find(context, id, agentName);
        while (row.state === 'pending' && watcher.failure === null && !context.signal.aborted) {
          const leftMs = Math.min(endMs, row.expiresAtMs) - now();
          if (leftMs <= 0) break;
          await pause.next(leftMs);
          if (watcher.isOutdated) {
            watcher.isOutdated = false;
            row = await service.find(context, id, agentName);
          }
          row = rowAt(watcher.next() ?? row, now());
        }
        return approvalOf(row);
      } finally {
        pause.end();
        feed.leave(watcher);
      }
    },
  };
}

function filterOf(input: ApprovalInputs['watchApprovals'], { principal }: CallContext) {
  const ids = input.approval_ids === undefined ? null : new Set(input.approval_ids);
  const person = personOf(principal) ?? { name: null, role: null };
  return (row: ApprovalRow): boolean =>
    row.namespace === principal.namespace.name &&
    (ids === null || ids.has(row.id)) &&
    (input.agent_name === undefined || row.agentName === input.agent_name) &&
    (input.mine !== true || row.controls.some(({ approvers }) => isApprover(approvers, person)));
}
