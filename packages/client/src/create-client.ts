import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient as createRpcClient } from '@connectrpc/connect';
import { Stage as StageEnum } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  Detail,
  type EvaluateRequest,
  EvaluateRequestSchema,
  EvaluationService,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { Batcher } from './batcher.js';
import { createCallCarrier } from './call-carrier.js';
import { evaluateEach } from './evaluate-each.js';
import { guardTool } from './guard.js';
import { Pending } from './pending.js';
import { stepJson } from './step-json.js';
import { createStreamCarrier, type StreamCarrier } from './stream-carrier.js';
import type {
  Client,
  Evaluation,
  EvaluationOptions,
  EvaluationRequest,
  OnUnavailable,
  TransportOptions,
} from './types.js';

const DEFAULT_TIMEOUT_MS = 5_000;
const DEFAULT_BATCH_WINDOW_MS = 1;
const DEFAULT_MAX_BATCH = 32;
/** Limit of the service for one message. */
const MAX_MAX_BATCH = 1_000;
const DEFAULT_MAX_IN_FLIGHT = 1_024;
/** Limit of timers. */
const MAX_MS = 2 ** 31 - 1;

/** Functions of a transport created by this client, besides sending. */
export interface OwnTransport {
  /** Aborts a pending connection attempt. */
  readonly resetConnection: () => void;
  readonly close: () => void;
}

/**
 * Creates a client over a transport of Connect. Throws a TypeError or RangeError for invalid settings. It
 * opens no connection until the first evaluation.
 */
export function createClient(options: TransportOptions, own?: OwnTransport): Client {
  const settings = readSettings(options);
  if (options.transport === undefined) {
    throw new TypeError(
      'transport is missing: give a transport of Connect, for example createGrpcWebTransport',
    );
  }
  const rpc = createRpcClient(EvaluationService, options.transport);
  const headers: Record<string, string> = options.apiKey === undefined ? {} : { 'x-api-key': options.apiKey };
  const open = new Set<Pending>();
  let stream: StreamCarrier | undefined;
  let leastRevision = 0n;
  let closed = false;

  const batcher = new Batcher({
    ...settings,
    batches(events) {
      if (options.streaming !== true) return createCallCarrier(rpc, headers, events);
      stream = createStreamCarrier({ rpc, headers, events, resetConnection: own?.resetConnection });
      return stream;
    },
    single: (events) => createCallCarrier(rpc, headers, events),
  });
  const onSettled = (pending: Pending): void => {
    open.delete(pending);
    batcher.forget(pending);
  };
  const onTimeout = (): void => stream?.checkSilence();

  async function evaluate(request: EvaluationRequest, given: EvaluationOptions = {}): Promise<Evaluation> {
    if (closed) throw closedError();
    given.signal?.throwIfAborted();
    const pending = new Pending(requestMessage(request, given), {
      timeoutMs: milliseconds('timeoutMs', given.timeoutMs ?? settings.timeoutMs, 1),
      onUnavailable: decision(given.onUnavailable ?? settings.onUnavailable),
      signal: given.signal,
      onSettled,
      onTimeout,
    });
    open.add(pending);
    batcher.add(pending);
    return pending.promise;
  }

  function requestMessage(request: EvaluationRequest, given: EvaluationOptions): EvaluateRequest {
    const { agent = options.agent, stage, step } = request;
    if (agent === undefined)
      throw new TypeError('agent is missing: give it with the request or to the client');
    if (stage !== 'pre' && stage !== 'post') throw new TypeError('stage must be "pre" or "post"');
    const minRevision = revision(given.minRevision ?? 0);
    return create(EvaluateRequestSchema, {
      agentName: agent,
      stage: stage === 'pre' ? StageEnum.PRE : StageEnum.POST,
      stepForm: { case: 'stepJson', value: stepJson(step) },
      detail: given.detail === 'full' ? Detail.FULL : Detail.VERDICT,
      minRevision: minRevision > leastRevision ? minRevision : leastRevision,
    });
  }

  return {
    evaluate,
    evaluateStream: (requests, given = {}) => evaluateEach(evaluate, requests, given, settings.maxInFlight),
    atLeast(demanded) {
      const read = revision(demanded);
      if (read > leastRevision) leastRevision = read;
    },
    guard: (tool, given) => guardTool(evaluate, tool, given),
    close() {
      if (closed) return;
      closed = true;
      batcher.close();
      for (const pending of open) pending.giveUp(closedError());
      own?.close();
    },
  };
}

function closedError(): ConnectError {
  return new ConnectError('the client is closed', Code.Canceled);
}

function readSettings(options: TransportOptions) {
  const { maxBatch = DEFAULT_MAX_BATCH, maxInFlight = DEFAULT_MAX_IN_FLIGHT } = options;
  return {
    timeoutMs: milliseconds('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1),
    onUnavailable: decision(options.onUnavailable ?? 'deny'),
    batchWindowMs: milliseconds('batchWindowMs', options.batchWindowMs ?? DEFAULT_BATCH_WINDOW_MS, 0),
    maxBatch: whole('maxBatch', maxBatch, MAX_MAX_BATCH),
    maxInFlight: whole('maxInFlight', maxInFlight, Number.MAX_SAFE_INTEGER),
  };
}

function milliseconds(name: string, value: number, least: number): number {
  if (value >= least && value <= MAX_MS) return value;
  throw new RangeError(`${name} must be from ${least} to ${MAX_MS}`);
}

function whole(name: string, value: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`${name} must be a whole number from 1 to ${most}`);
}

function decision(value: OnUnavailable): OnUnavailable {
  if (value === 'deny' || value === 'allow') return value;
  throw new TypeError('onUnavailable must be "deny" or "allow"');
}

function revision(value: number | bigint): bigint {
  if (
    (typeof value === 'bigint' || Number.isSafeInteger(value)) &&
    value >= 0 &&
    value <= Number.MAX_SAFE_INTEGER
  ) {
    return BigInt(value);
  }
  throw new RangeError('a revision must be a whole number from 0 to 2^53 - 1');
}
