import { Code, ConnectError, createClient as createRpcClient } from '@connectrpc/connect';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { createApprovalWaits } from './approval-waits.js';
import { Batcher } from './batcher.js';
import { createCallCarrier } from './carrier.js';
import { inTurns, withKey } from './client-transport.js';
import type { Client, ClientSettings } from './client-types.js';
import { withLocal, withLocalChange } from './combined.js';
import { evaluateEach } from './evaluate-each.js';
import { guardTool } from './guard.js';
import { createKeySource } from './key-source.js';
import { Pending } from './pending.js';
import { publishEvents } from './publish-events.js';
import { requestMessage } from './request-message.js';
import { createServerInfoReader } from './server-info.js';
import { createServices } from './services.js';
import { createSession } from './session.js';
import { checkOptionNames, decision, milliseconds, readSettings, revision } from './settings.js';
import { type Connection, createStreamPool, type StreamPool } from './stream-pool.js';
import type { Evaluation, EvaluationOptions, EvaluationRequest } from './types.js';
import { evaluateApproved } from './wait-for-approval.js';
import { evaluateWaiting } from './wait-for-limits.js';
import { watchControls } from './watch-controls.js';

/** The service stops the work on a message when `cancel` is sent. */
const CANCEL_FEATURE = 'stream_cancel';
const SETTING_NAMES = [
  ...['agent', 'apiKey', 'traceparent', 'local', 'timeoutMs', 'onUnavailable', 'batchWindowMs', 'maxBatch'],
  'maxInFlight',
];

/** The connections of a client. */
export interface Connections {
  readonly all: readonly [Connection, ...Connection[]];
  /** See {@link TransportOptions.streaming}. */
  readonly streaming: boolean;
  readonly close: () => void;
}

/**
 * Creates a client over transports of Connect. Throws a TypeError or RangeError for invalid settings. It opens no
 * connection until the first call.
 */
export function createClientOver(options: ClientSettings, connections: Connections): Client {
  checkOptionNames('createClient', options, SETTING_NAMES);
  const settings = readSettings(options);
  const keys = createKeySource(options.apiKey);
  const transport = inTurns(connections.all.map((one) => one.transport) as [Connection['transport']]);
  const services = createServices(withKey(transport, keys, true));
  const info = createServerInfoReader(services.server);
  const open = new Set<Pending>();
  const closing = new AbortController();
  const approvals = createApprovalWaits(services.approvals, closing.signal);
  let pool: StreamPool | undefined;
  let leastRevision = 0n;

  const evaluations = createRpcClient(EvaluationService, withKey(transport, keys, false));
  const batcher = new Batcher({
    ...settings,
    // Less than the limit, so that the first evaluation after one that reached it does not wait again.
    refusedAfterMs: settings.timeoutMs * 0.9,
    renewKey: keys.isRenewable ? keys.renew : undefined,
    batches(events) {
      if (!connections.streaming) return createCallCarrier(evaluations, events);
      const all = connections.all.map((one) => ({ ...one, transport: withKey(one.transport, keys, false) }));
      pool = createStreamPool({ connections: all, events, canCancel: () => info.has(CANCEL_FEATURE) });
      return pool;
    },
    single: (events) => createCallCarrier(evaluations, events),
  });
  const local = options.local?.open({ watchControls: watch });

  const onSettled = (pending: Pending): void => {
    open.delete(pending);
    batcher.forget(pending);
  };
  const onTimeout = (): void => pool?.checkSilence();

  async function evaluate(request: EvaluationRequest, given: EvaluationOptions = {}): Promise<Evaluation> {
    const { waitForApproval } = given;
    if (waitForApproval === undefined) return evaluateUnasked(request, given);
    const agent = agentOf(request);
    return evaluateApproved(evaluateUnasked, { ...request, agent }, given, waitForApproval, approvals);
  }

  async function evaluateUnasked(request: EvaluationRequest, given: EvaluationOptions): Promise<Evaluation> {
    const { waitForLimits } = given;
    if (waitForLimits === undefined) return evaluateOnce(request, given);
    return evaluateWaiting(evaluateOnce, request, given, waitForLimits, closing.signal);
  }

  async function evaluateOnce(request: EvaluationRequest, given: EvaluationOptions): Promise<Evaluation> {
    if (closing.signal.aborted) throw closedError();
    given.signal?.throwIfAborted();
    const timeoutMs = milliseconds('timeoutMs', given.timeoutMs ?? settings.timeoutMs, 1);
    const message = requestMessage(request, agentOf(request), given, {
      leastRevision,
      traceparent: () => options.traceparent?.(),
    });
    const pending = new Pending(message, {
      timeoutMs,
      onUnavailable: decision(given.onUnavailable ?? settings.onUnavailable),
      signal: given.signal,
      headers: given.headers === undefined ? undefined : new Headers(given.headers),
      onSettled,
      onTimeout,
    });
    open.add(pending);
    batcher.add(pending);
    if (local === undefined) return pending.promise;
    const { agentName: agent, detail, minRevision } = message;
    const { stage } = request;
    const json = message.stepForm.value as Uint8Array;
    const question = { agent, stage, stepJson: json, detail, minRevision, timeoutMs };
    const [evaluation, verdict] = await Promise.all([pending.promise, local.decide(question)]);
    const both = withLocal(evaluation, verdict);
    if (!both.evaluated || !evaluation.evaluated) return both;
    // No decision is needed about what a control of this process denies or steers.
    if (evaluation.outcome === 'ask' && evaluation.approval !== undefined && both.outcome !== 'ask')
      approvals.cancel(agent, evaluation.approval);
    if (both.outcome !== 'modify') return both;
    return withLocalChange(both, (changed) => local.decide({ ...question, stepJson: changed }));
  }

  function agentOf({ agent = options.agent }: EvaluationRequest): string {
    if (agent !== undefined) return agent;
    throw new TypeError('agent is missing: give it with the request or to the client');
  }

  function watch(agent = options.agent, given = {}): ReturnType<Client['watchControls']> {
    if (agent === undefined)
      throw new TypeError('agent is missing: give it to watchControls or to the client');
    return watchControls(services.agents, agent, given, closing.signal);
  }

  return {
    ...services,
    evaluate,
    evaluateStream: (requests, given = {}) => evaluateEach(evaluate, requests, given, settings.maxInFlight),
    atLeast(demanded) {
      const read = revision(demanded);
      if (read > leastRevision) leastRevision = read;
    },
    guard: (tool, given) => guardTool(evaluate, tool, given),
    session: (agent, given = {}) => createSession(evaluate, agent ?? options.agent, given),
    watchControls: watch,
    publishEvents: (given = {}) => publishEvents(services.observability, given, closing.signal),
    serverInfo: info.read,
    close() {
      if (closing.signal.aborted) return;
      closing.abort(closedError());
      batcher.close();
      local?.close();
      for (const pending of open) pending.giveUp(closedError());
      connections.close();
    },
  };
}

function closedError(): ConnectError {
  return new ConnectError('the client is closed', Code.Canceled);
}
