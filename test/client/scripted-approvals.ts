import { once } from 'node:events';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { ApprovalState } from '../../gen/proto/enforcement/v1/approval_pb.js';
import {
  ApprovalDecision,
  ApprovalSchema,
  ApprovalService,
  type WatchApprovalsRequest,
} from '../../gen/proto/enforcement/v1/approval_service_pb.js';
import { Decision, Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  type EvaluateRequest,
  type EvaluateStreamRequest,
  EvaluateStreamResponseSchema,
  EvaluationService,
  Outcome,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { ServerService } from '../../gen/proto/enforcement/v1/server_service_pb.js';

/** An approval as the scripted service keeps it. */
export interface ScriptedApproval {
  readonly id: number;
  readonly expiresAtMs: number;
  state: ApprovalState;
  usedStepId: string | undefined;
  comment: string | undefined;
}

/** Asks for an approval of every step before it runs, as the service does, and lives on after a restart. */
export interface ScriptedApprovals {
  readonly url: string;
  /** By the JSON of the step, the latest one last. */
  readonly approvals: Map<string, ScriptedApproval[]>;
  readonly evaluations: EvaluateRequest[];
  /** The ids of each stream of approvals, in the order of their opening. */
  readonly watches: { readonly ids: readonly number[]; isOpen: boolean }[];
  readonly cancelled: { readonly id: number; readonly agent: string }[];
  /** The approval with this id. */
  approval(id: number): ScriptedApproval;
  end(id: number, state: ApprovalState, comment?: string): void;
  /** Whether streams of approvals are refused, and with what. */
  refusal: ConnectError | undefined;
  /** Whether steps are not evaluated. */
  isAway: boolean;
  /** Time until a new approval expires. */
  expiresMs: number;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const textOf = ({ stepForm }: EvaluateRequest): string =>
  stepForm.case === 'stepJson' ? Buffer.from(stepForm.value).toString() : '';

export async function startScriptedApprovals(): Promise<ScriptedApprovals> {
  const approvals = new Map<string, ScriptedApproval[]>();
  const evaluations: EvaluateRequest[] = [];
  const watches: { ids: readonly number[]; isOpen: boolean }[] = [];
  const cancelled: { id: number; agent: string }[] = [];
  const changes = new Set<(approval: ScriptedApproval) => void>();
  const sessions = new Set<Http2Session>();
  let lastId = 0;

  const noticeOf = ({ id, state, expiresAtMs }: ScriptedApproval) => ({
    id,
    state,
    expiresAt: timestampFromMs(expiresAtMs),
    stepSha256: `sha-of-${id}`,
    controls: [{ controlId: 7, controlName: 'big-payments' }],
  });
  const match = {
    controlId: 7,
    controlName: 'big-payments',
    action: Decision.DENY,
    result: { matched: true },
  };

  function verdictOf(request: EvaluateRequest) {
    if (service.isAway) throw new ConnectError('away', Code.Unavailable);
    evaluations.push(request);
    if (request.stage === Stage.POST) return { isSafe: true, confidence: 1, outcome: Outcome.ALLOW };
    const text = textOf(request);
    const known = approvals.get(text) ?? [];
    let approval = known.at(-1);
    const isOver =
      approval === undefined ||
      (approval.state === ApprovalState.USED && approval.usedStepId !== request.stepId) ||
      approval.state === ApprovalState.EXPIRED ||
      approval.state === ApprovalState.CANCELLED;
    if (isOver) {
      lastId += 1;
      approval = {
        id: lastId,
        expiresAtMs: Date.now() + service.expiresMs,
        state: ApprovalState.PENDING,
        usedStepId: undefined,
        comment: undefined,
      };
      approvals.set(text, [...known, approval]);
    }
    const one = approval as ScriptedApproval;
    const passes = one.state === ApprovalState.APPROVED || one.state === ApprovalState.USED;
    if (passes) {
      one.state = ApprovalState.USED;
      one.usedStepId = request.stepId;
    }
    const asks = one.state === ApprovalState.PENDING && request.accepts.includes(Outcome.ASK);
    return {
      isSafe: passes,
      confidence: 1,
      outcome: passes ? Outcome.ALLOW : asks ? Outcome.ASK : Outcome.DENY,
      matches: [match],
      approval: noticeOf(one),
    };
  }

  const messageOf = ({ id, state, comment }: ScriptedApproval) =>
    create(ApprovalSchema, {
      id,
      state,
      votes: comment === undefined ? [] : [{ by: 'ann', decision: ApprovalDecision.DENY, comment: comment }],
    });

  async function* watchApprovals({ approvalIds }: WatchApprovalsRequest, { signal }: HandlerContext) {
    if (service.refusal !== undefined) throw service.refusal;
    const watch = { ids: approvalIds, isOpen: true };
    watches.push(watch);
    const outbox: ScriptedApproval[] = approvalIds.map((id) => service.approval(id));
    let wake: () => void = () => {};
    const onChange = (approval: ScriptedApproval): void => {
      outbox.push(approval);
      wake();
    };
    changes.add(onChange);
    const onAbort = (): void => wake();
    signal.addEventListener('abort', onAbort);
    try {
      let isComplete = false;
      while (!signal.aborted) {
        const next = outbox.shift();
        if (next !== undefined && approvalIds.includes(next.id)) {
          yield { news: { case: 'approval' as const, value: messageOf(next) } };
        } else if (next === undefined && !isComplete) {
          isComplete = true;
          yield { news: { case: 'heartbeat' as const, value: {} } };
        } else if (next === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      watch.isOpen = false;
      changes.delete(onChange);
    }
  }

  async function* evaluateStream(requests: AsyncIterable<EvaluateStreamRequest>) {
    for await (const { id, evaluations: given, cancel } of requests) {
      if (cancel) continue;
      const results = given.map((one) => ({ outcome: { case: 'verdict' as const, value: verdictOf(one) } }));
      yield create(EvaluateStreamResponseSchema, { id, results });
    }
  }

  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(ServerService, { getServerInfo: () => ({ features: ['stream_cancel'] }) });
      router.service(EvaluationService, {
        evaluateStream,
        evaluateBatch: ({ evaluations: given }) => ({
          results: given.map((one) => ({ outcome: { case: 'verdict' as const, value: verdictOf(one) } })),
        }),
      });
      router.service(ApprovalService, {
        watchApprovals,
        awaitApproval: ({ approvalId }) => ({ approval: messageOf(service.approval(approvalId)) }),
        cancelApproval({ approvalId, agentName }) {
          cancelled.push({ id: approvalId, agent: agentName });
          service.end(approvalId, ApprovalState.CANCELLED);
          return { approval: messageOf(service.approval(approvalId)) };
        },
      });
    },
  });
  let server = createServer(handler);
  let port = 0;

  const service: ScriptedApprovals = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    approvals,
    evaluations,
    watches,
    cancelled,
    refusal: undefined,
    isAway: false,
    expiresMs: 3_600_000,
    approval(id) {
      const found = [...approvals.values()].flat().find((one) => one.id === id);
      if (found === undefined) throw new ConnectError(`there is no approval ${id}`, Code.NotFound);
      return found;
    },
    end(id, state, comment) {
      const approval = service.approval(id);
      approval.state = state;
      approval.comment = comment;
      for (const tell of changes) tell(approval);
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.destroy();
      sessions.clear();
      await closed;
    },
    async start() {
      server = createServer(handler);
      server.on('session', (session) => sessions.add(session));
      await once(server.listen(port, '127.0.0.1'), 'listening');
      port = (server.address() as AddressInfo).port;
    },
  };
  await service.start();
  return service;
}
