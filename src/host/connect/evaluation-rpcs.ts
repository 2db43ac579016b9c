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
import type { RevisedVerdict } from '../../evaluation-api/evaluation-service.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { type EvaluationCall, type EvaluationCalls, STREAM_WINDOW } from '../evaluation/evaluation-calls.js';
import { inCompletionOrder } from './completion-order.js';
import {
  batchMessage,
  evaluationFieldsOf,
  streamFieldsOf,
  streamReplyMessage,
  verdictMessage,
} from './evaluation-messages.js';
import { correctedDecodeError } from './message-errors.js';
import { headerReader, rpcCallOf } from './rpc-call.js';
import { itemFailure, type RpcEnvironment, rpcError, unaryRpc } from './unary.js';

/** The RPCs that call the evaluation directly, without the detour over plain values. */
export function evaluationRpcs(
  calls: EvaluationCalls,
  methods: ReadonlyMap<string, RpcMethod>,
  environment: RpcEnvironment,
): Omit<ServiceImpl<typeof EvaluationServiceDesc>, 'explain'> {
  const evaluate = unaryRpc(
    methodNamed(methods, 'Evaluate'),
    environment,
    (message, context, { protocol }) => {
      const caller = { protocol, header: context.header, signal: () => context.signal };
      const verdict = calls.evaluate(evaluationFieldsOf(message as EvaluateRequest), caller);
      const reply = (made: RevisedVerdict): EvaluateResponse => {
        context.reportRevision(made.revision);
        return verdictMessage(made);
      };
      return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
    },
  );
  const batchMethod = methodNamed(methods, 'EvaluateBatch');
  const batch = unaryRpc(batchMethod, environment, (message, context, { protocol }) => {
    const { evaluations } = message as EvaluateBatchRequest;
    const outcomes = calls.batch(evaluations.map(evaluationFieldsOf), {
      caller: { protocol, header: context.header, signal: () => context.signal },
      failed: itemFailure(environment.log, batchMethod.name, context.requestId),
    });
    return outcomes instanceof Promise ? outcomes.then(batchMessage) : batchMessage(outcomes);
  });
  const streamMethod = methodNamed(methods, 'EvaluateStream');
  return {
    evaluate: (request, context) => evaluate(request as Message, context) as Promise<EvaluateResponse>,
    evaluateBatch: (request, context) => batch(request as Message, context) as Promise<EvaluateBatchResponse>,
    evaluateStream: (requests, context) =>
      evaluateStream(calls, streamMethod, environment, requests, context),
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
    caller: { protocol: context.protocolName, header: headerReader(context), signal: () => signal },
    failed: itemFailure(environment.log, method.name, rpc.requestId),
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

/** The status of a call that a signal ended: deadline, shutdown, or the caller went away. */
function endOf(signal: AbortSignal): ConnectError {
  const reason: unknown = signal.reason;
  return reason instanceof ConnectError ? reason : new ConnectError('the call was canceled', Code.Canceled);
}
