import type { AccessRequestService as AccessRequestServiceDesc } from '../../../gen/proto/enforcement/v1/access_request_service_pb.js';
import type { ApprovalService as ApprovalServiceDesc } from '../../../gen/proto/enforcement/v1/approval_service_pb.js';
import { type HandlersOf, handler, streamHandler } from '../../contract/call/handler.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { createSealing } from '../../contract/secrets/sealing.js';
import type { Database } from '../../storage/database/database.js';
import type { ApprovalGate } from '../decisions/approval-gate.js';
import { createAccessRequests } from './access-requests.js';
import { ApprovalFeed } from './approval-feed.js';
import { createApprovalGate } from './approval-gate.js';
import type { ApprovalLimits } from './approval-limits.js';
import type { ApprovalMeter } from './approval-meter.js';
import { approvalSchemas as schemas } from './approval-schemas.js';
import { createApprovalService } from './approval-service.js';
import { createApprovalUpkeep } from './approval-upkeep.js';
import { changesAfter, latestChange } from './changed-approvals.js';
import { createEvidence } from './evidence.js';
import type { StepTrials } from './step-trials.js';
import { createWatchApprovals } from './watch-approvals.js';

export interface ApprovalsOptions {
  readonly database: Pick<Database, 'client' | 'mutateAside'>;
  readonly config: ApprovalLimits & {
    /** 32 bytes in base64; null for none. */
    readonly key: string | null;
    readonly retentionMs: number;
  };
  /** What approvers are told of a step. */
  readonly trials: StepTrials;
  readonly meter: ApprovalMeter;
  readonly failures: Pick<RepeatLog, 'told' | 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How often a process looks for expired approvals while nothing waits for them, in milliseconds. */
  readonly idleMs?: number | undefined;
}

/** Decisions of people about steps. */
export interface Approvals {
  readonly handlers: HandlersOf<typeof ApprovalServiceDesc>;
  readonly accessRequests: HandlersOf<typeof AccessRequestServiceDesc>;
  readonly gate: ApprovalGate;
  /** Ends expired approvals from now on. One of several processes on a port must. */
  keep(): void;
  /** Ends streams and waiting calls. */
  drain(): void;
  /** Never rejects. */
  close(): Promise<void>;
}

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { database, config, trials, meter, failures, now } = options;
  const sealing = createSealing(config.key === null ? null : Buffer.from(config.key, 'base64'));
  const feed = new ApprovalFeed({
    latest: () => latestChange(database.client),
    after: (place) => changesAfter(database.client, place),
  });
  const changed = () => feed.changed();
  const parts = { database, sealing, meter, changed, now };
  const onFailure = (error: unknown) =>
    failures.failed('approvals', 'a step that waits could not be tried with its controls', error);
  const service = createApprovalService({ ...parts, trials, onFailure });
  const waiting = createWatchApprovals({ feed, service, now });
  const evidence = createEvidence({ client: database.client, trials, onFailure });
  const upkeep = createApprovalUpkeep({
    ...parts,
    retentionMs: config.retentionMs,
    isWatched: () => feed.watchers > 0,
    failures,
    idleMs: options.idleMs,
  });
  return {
    gate: createApprovalGate({
      ...parts,
      limits: config,
      evidence: (asked) => {
        if (!sealing.hasKey) failures.told('warn', 'approvals key', WITHOUT_KEY, {});
        return evidence(asked);
      },
    }),
    handlers: {
      listApprovals: handler(schemas.listApprovals, (input, context) => service.list(context, input)),
      getApproval: handler(schemas.getApproval, ({ approval_id }, context) =>
        service.get(context, approval_id),
      ),
      decideApproval: handler(schemas.decideApproval, (input, context) => service.decide(context, input)),
      cancelApproval: handler(schemas.cancelApproval, (input, context) => service.cancel(context, input)),
      awaitApproval: handler(schemas.awaitApproval, (input, context) => waiting.wait(input, context)),
      watchApprovals: streamHandler(schemas.watchApprovals, (input, context) =>
        waiting.watch(input, context),
      ),
    },
    accessRequests: createAccessRequests({ approvals: service }),
    keep: upkeep.start,
    drain: () => feed.close(),
    close: upkeep.close,
  };
}

const WITHOUT_KEY =
  'steps that wait for an approval are stored unencrypted: set SERVICE_APPROVALS_KEY_FILE to a file with 32 bytes in base64 or hexadecimal';
