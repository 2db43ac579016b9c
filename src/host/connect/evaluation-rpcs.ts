import { create, type Message } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import {
  type EvaluateRequest,
  type EvaluateResponse,
  type EvaluateStreamRequest,
  type EvaluateStreamResponse,
  EvaluateStreamResponseSchema,
  type EvaluateStreamResult,
  EvaluateStreamResultSchema,
  type EvaluationService as EvaluationServiceDesc,
  type ExplainResponse,
} from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { type Status, StatusSchema } from '../../../gen/proto/google/rpc/status_pb.js';
import type { ServiceError } from '../../errors/service-error.js';
import type { EvaluationCaller, EvaluationService } from '../../evaluation-api/evaluation-service.js';
import type { Handler } from '../../rpc/handler.js';
import { invalidRequest } from '../../validation/parse-input.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { inCompletionOrder } from './completion-order.js';
import { detailOf, evaluationRequestOf, verdictMessage } from './evaluation-messages.js';
import { correctedDecodeError } from './guard.js';
import { headerReader, rpcCallOf } from './rpc-call.js';
import { handlerRpc, logRpcError, type RpcEnvironment, rpcError, unaryRpc } from './unary.js';

/** Messages of one stream that may wait at the same time. Local evaluators never wait; it bounds the rest. */
const STREAM_WINDOW = 64;
/** Longest id of a stream message, in UTF-16 code units. */
const MAX_STREAM_ID_LENGTH = 128;
/** Most evaluations of one stream message. */
const MAX_EVALUATIONS_PER_MESSAGE = 1_000;

/** The RPCs that call the evaluation directly, without the detour over plain values. Explain is an ordinary handler. */
export function evaluationRpcs(
  evaluation: EvaluationService,
  methods: ReadonlyMap<string, RpcMethod>,
  environment: RpcEnvironment,
  explain: Handler,
): ServiceImpl<typeof EvaluationServiceDesc> {
  const unary = unaryRpc(methodNamed(methods, 'Evaluate'), environment, (message, { header }, protocol) =>
    evaluateMessage(evaluation, message as EvaluateRequest, { protocol, header }),
  );
  const stream = methodNamed(methods, 'EvaluateStream');
  const explainRpc = handlerRpc(methodNamed(methods, 'Explain'), explain, environment);
  return {
    evaluate: (request, context) => unary(request as Message, context) as Promise<EvaluateResponse>,
    evaluateStream: (requests, context) => evaluateStream(evaluation, stream, environment, requests, context),
    explain: (request, context) => explainRpc(request as Message, context) as Promise<ExplainResponse>,
  };
}

function methodNamed(methods: ReadonlyMap<string, RpcMethod>, name: string): RpcMethod {
  const found = methods.get(name);
  if (found === undefined) throw new Error(`EvaluationService has no method ${name}`);
  return found;
}

function evaluateMessage(
  evaluation: EvaluationService,
  message: EvaluateRequest,
  caller: EvaluationCaller,
): EvaluateResponse | Promise<EvaluateResponse> {
  const verdict = evaluation.evaluate(evaluationRequestOf(message), detailOf(message), caller);
  return verdict instanceof Promise ? verdict.then(verdictMessage) : verdictMessage(verdict);
}

async function* evaluateStream(
  evaluation: EvaluationService,
  method: RpcMethod,
  environment: RpcEnvironment,
  requests: AsyncIterable<EvaluateStreamRequest>,
  context: HandlerContext,
): AsyncGenerator<EvaluateStreamResponse> {
  const call = rpcCallOf(context);
  const caller = { protocol: context.protocolName, header: headerReader(context) };
  const failed = (error: unknown): ConnectError => {
    const status = rpcError(error);
    logRpcError(environment.log, method.name, call.requestId, status, error);
    return status;
  };
  try {
    yield* inCompletionOrder(requests, STREAM_WINDOW, (message) =>
      answer(evaluation, message, caller, failed),
    );
    call.code = 'ok';
  } catch (error) {
    const status = correctedDecodeError(rpcError(error));
    call.code = status.code;
    throw status;
  } finally {
    call.code ??= Code.Canceled;
  }
}

/** One message of the stream; what goes wrong with an evaluation becomes its own status. */
function answer(
  evaluation: EvaluationService,
  message: EvaluateStreamRequest,
  caller: EvaluationCaller,
  failed: (error: unknown) => ConnectError,
): EvaluateStreamResponse | Promise<EvaluateStreamResponse> {
  const problem = messageProblem(message);
  if (problem !== undefined) {
    const id = message.id.slice(0, MAX_STREAM_ID_LENGTH);
    return streamResponse(id, [errorResult(failed(problem))]);
  }
  const results = message.evaluations.map((request) => result(evaluation, request, caller, failed));
  const sync = results.filter((one): one is EvaluateStreamResult => !(one instanceof Promise));
  if (sync.length === results.length) return streamResponse(message.id, sync);
  return Promise.all(results).then((all) => streamResponse(message.id, all));
}

function messageProblem(message: EvaluateStreamRequest): ServiceError | undefined {
  const { id, evaluations } = message;
  if (id.length > MAX_STREAM_ID_LENGTH) {
    return invalidMessage('id', 'string_too_long', `must have at most ${MAX_STREAM_ID_LENGTH} characters`);
  }
  if (evaluations.length === 0)
    return invalidMessage('evaluations', 'too_short', 'must have at least 1 item');
  if (evaluations.length > MAX_EVALUATIONS_PER_MESSAGE) {
    return invalidMessage(
      'evaluations',
      'too_long',
      `must have at most ${MAX_EVALUATIONS_PER_MESSAGE} items`,
    );
  }
  return undefined;
}

function invalidMessage(field: string, code: string, message: string): ServiceError {
  return invalidRequest([{ resource: 'Request', field, code, message }]);
}

function result(
  evaluation: EvaluationService,
  request: EvaluateRequest,
  caller: EvaluationCaller,
  failed: (error: unknown) => ConnectError,
): EvaluateStreamResult | Promise<EvaluateStreamResult> {
  try {
    const verdict = evaluateMessage(evaluation, request, caller);
    if (!(verdict instanceof Promise)) return verdictResult(verdict);
    return verdict.then(verdictResult, (error: unknown) => errorResult(failed(error)));
  } catch (error) {
    return errorResult(failed(error));
  }
}

function streamResponse(id: string, results: EvaluateStreamResult[]): EvaluateStreamResponse {
  const message = create(EvaluateStreamResponseSchema);
  message.id = id;
  message.results = results;
  return message;
}

function verdictResult(value: EvaluateResponse): EvaluateStreamResult {
  const message = create(EvaluateStreamResultSchema);
  message.outcome = { case: 'verdict', value };
  return message;
}

function errorResult(error: ConnectError): EvaluateStreamResult {
  return create(EvaluateStreamResultSchema, { outcome: { case: 'error', value: statusMessage(error) } });
}

/** A status as the message that carries it inside a stream. */
function statusMessage(error: ConnectError): Status {
  const details = error.details.flatMap((detail) =>
    'desc' in detail ? [anyPack(detail.desc, create(detail.desc, detail.value))] : [],
  );
  return create(StatusSchema, { code: error.code, message: error.rawMessage, details });
}
