import type { Message } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import type {
  EvaluateBatchRequest,
  EvaluateBatchResponse,
  EvaluateRequest,
  EvaluateResponse,
  EvaluateStreamRequest,
  EvaluateStreamResponse,
  EvaluationService as EvaluationServiceDesc,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { TARGET_WARNING } from '../../contract/input/target.js';
import type { RevisedVerdict } from '../../decisions/evaluation-service.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import {
  type EvaluationCall,
  type EvaluationCalls,
  type RpcCaller,
  STREAM_WINDOW,
  stalenessOf,
} from '../evaluation/evaluation-calls.js';
import type { EvaluationOutcome } from '../wire/evaluation-codec.js';
import {
  batchMessage,
  evaluationFieldsOf,
  streamFieldsOf,
  streamReplyMessage,
  verdictMessage,
} from '../wire/evaluation-messages.js';
import { correctedDecodeError } from '../wire/message-errors.js';
import { inCompletionOrder } from './completion-order.js';
import { callContextOf, type RpcContext, rpcCallOf } from './rpc-call.js';
import { itemFailure, type RpcEnvironment, rpcError, unaryRpc } from './unary.js';

/** The RPCs that call the evaluation directly, without conversion to plain values. */
export function evaluationRpcs(
  calls: EvaluationCalls,
  methods: ReadonlyMap<string, RpcMethod>,
  environment: RpcEnvironment,
): Omit<ServiceImpl<typeof EvaluationServiceDesc>, 'explain'> {
  const evaluate = unaryRpc(
    methodNamed(methods, 'Evaluate'),
    environment,
    (message, context, { protocol }) => {
      const caller = callerOf(context, protocol);
      const verdict = calls.evaluate(evaluationFieldsOf(message as EvaluateRequest), caller);
      const reply = (made: RevisedVerdict): EvaluateResponse => {
        context.reportRevision(made.revision);
        if (made.staleness_seconds !== null) context.reportStaleness(made.staleness_seconds);
        return verdictMessage(made);
      };
      return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
    },
  );
  const batchMethod = methodNamed(methods, 'EvaluateBatch');
  const batch = unaryRpc(batchMethod, environment, (message, context, { protocol }) => {
    const { evaluations } = message as EvaluateBatchRequest;
    const outcomes = calls.batch(evaluations.map(evaluationFieldsOf), {
      caller: callerOf(context, protocol),
      failed: itemFailure(environment, batchMethod.name, context.requestId),
    });
    const reply = (made: readonly EvaluationOutcome[]): EvaluateBatchResponse => {
      const staleness = stalenessOf(made);
      if (staleness !== null) context.reportStaleness(staleness);
      return batchMessage(made);
    };
    return outcomes instanceof Promise ? outcomes.then(reply) : reply(outcomes);
  });
  const streamMethod = methodNamed(methods, 'EvaluateStream');
  return {
    evaluate: (request, context) => evaluate(request as Message, context) as Promise<EvaluateResponse>,
    evaluateBatch: (request, context) => batch(request as Message, context) as Promise<EvaluateBatchResponse>,
    evaluateStream: (requests, context) =>
      evaluateStream(calls, streamMethod, environment, requests, context),
  };
}

function callerOf(context: RpcContext, protocol: string): RpcCaller {
  let isTold = false;
  return {
    protocol,
    header: context.header,
    signal: () => context.signal,
    spend: (evaluations) => context.ticket.spend(evaluations),
    tellTargetIgnored() {
      if (!isTold) context.warn([TARGET_WARNING]);
      isTold = true;
    },
  };
}

function methodNamed(methods: ReadonlyMap<string, RpcMethod>, name: string): RpcMethod {
  const found = methods.get(name);
  if (found === undefined) throw new Error(`EvaluationService has no method ${name}`);
  return found;
}

async function* evaluateStream(
  calls: EvaluationCalls,
  method: RpcMethod,
  environment: RpcEnvironment,
  requests: AsyncIterable<EvaluateStreamRequest>,
  context: HandlerContext,
): AsyncGenerator<EvaluateStreamResponse> {
  const rpc = rpcCallOf(context);
  const { signal } = context;
  const call: EvaluationCall = {
    caller: callerOf(
      callContextOf(context, () => signal),
      context.protocolName,
    ),
    failed: itemFailure(environment, method.name, rpc.requestId),
  };
  const answer = (message: EvaluateStreamRequest) => {
    const reply = calls.message(streamFieldsOf(message), call);
    return reply instanceof Promise ? reply.then(streamReplyMessage) : streamReplyMessage(reply);
  };
  try {
    yield* inCompletionOrder(requests, STREAM_WINDOW, signal, answer);
    rpc.code = 'ok';
  } catch (error) {
    const status = signal.aborted ? endOf(signal) : correctedDecodeError(rpcError(error));
    rpc.code = status.code;
    throw status;
  } finally {
    rpc.code ??= Code.Canceled;
  }
}

/** The status of a call ended by a signal: deadline, shutdown, or disconnected caller. */
function endOf(signal: AbortSignal): ConnectError {
  const reason: unknown = signal.reason;
  return reason instanceof ConnectError ? reason : new ConnectError('the call was canceled', Code.Canceled);
}
