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
import type { RevisedVerdict } from '../../decisions/evaluation-service.js';
import type { LongStream, LongStreams } from '../call/long-streams.js';
import { type EvaluationCalls, STREAM_WINDOW, stalenessOf } from '../evaluation/evaluation-calls.js';
import { StreamMessages } from '../evaluation/stream-messages.js';
import { toConnectError } from '../wire/connect-error.js';
import type { EvaluationOutcome } from '../wire/evaluation-codec.js';
import {
  batchMessage,
  evaluationFieldsOf,
  noticeMessage,
  streamFieldsOf,
  streamReplyMessage,
  verdictMessage,
} from '../wire/evaluation-messages.js';
import { correctedDecodeError } from '../wire/message-errors.js';
import { codeWord } from '../wire/rpc-status.js';
import { inCompletionOrder, type Outside } from './completion-order.js';
import { rpcCallOf, writeTrailers } from './rpc-call.js';
import { unaryRpc } from './unary.js';

/** The RPCs that call the evaluation directly, without conversion to plain values. */
export function evaluationRpcs(
  calls: EvaluationCalls,
  longStreams: LongStreams,
): Omit<ServiceImpl<typeof EvaluationServiceDesc>, 'explain'> {
  const evaluate = unaryRpc((message, call) => {
    const verdict = calls.evaluate(evaluationFieldsOf(message as EvaluateRequest), call);
    const reply = (made: RevisedVerdict): EvaluateResponse => {
      call.reportRevision(made.revision);
      if (made.staleness_seconds !== null) call.reportStaleness(made.staleness_seconds);
      return verdictMessage(made);
    };
    return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
  });
  const batch = unaryRpc((message, call) => {
    const { evaluations } = message as EvaluateBatchRequest;
    const outcomes = calls.batch(evaluations.map(evaluationFieldsOf), call);
    const reply = (made: readonly EvaluationOutcome[]): EvaluateBatchResponse => {
      const staleness = stalenessOf(made);
      if (staleness !== null) call.reportStaleness(staleness);
      return batchMessage(made);
    };
    return outcomes instanceof Promise ? outcomes.then(reply) : reply(outcomes);
  });
  return {
    evaluate: (request, context) => evaluate(request as Message, context) as Promise<EvaluateResponse>,
    evaluateBatch: (request, context) => batch(request as Message, context) as Promise<EvaluateBatchResponse>,
    evaluateStream: (requests, context) => evaluateStream(calls, longStreams, requests, context),
  };
}

async function* evaluateStream(
  calls: EvaluationCalls,
  longStreams: LongStreams,
  requests: AsyncIterable<EvaluateStreamRequest>,
  context: HandlerContext,
): AsyncGenerator<EvaluateStreamResponse> {
  const rpc = rpcCallOf(context);
  const { call } = rpc;
  const { signal } = context;
  const messages = new StreamMessages(calls, call);
  let isActive = false;
  const answer = (message: EvaluateStreamRequest) => {
    isActive = true;
    const reply = messages.answer(streamFieldsOf(message));
    if (reply === null) return null;
    return reply instanceof Promise ? reply.then(streamReplyMessage) : streamReplyMessage(reply);
  };
  let stream: LongStream | undefined;
  const begun = ({ insert, isPending, fail }: Outside<EvaluateStreamResponse>): void => {
    stream = {
      connection: rpc.connection,
      notify: (withinMs) => insert(noticeMessage(withinMs)),
      wasActive() {
        const wasActive = isActive || isPending();
        isActive = false;
        return wasActive;
      },
      end: fail,
    };
    longStreams.add(stream);
  };
  try {
    yield* inCompletionOrder(requests, STREAM_WINDOW, signal, answer, begun);
    call.code = 'ok';
  } catch (error) {
    const status = signal.aborted ? endOf(signal) : correctedDecodeError(toConnectError(error));
    call.code = codeWord(status.code);
    throw status;
  } finally {
    if (stream !== undefined) longStreams.remove(stream);
    call.code ??= 'canceled';
    writeTrailers(rpc, context);
  }
}

/** The status of a call ended by a signal: deadline, shutdown, or disconnected caller. */
function endOf(signal: AbortSignal): ConnectError {
  const reason: unknown = signal.reason;
  return reason instanceof ConnectError ? reason : new ConnectError('the call was canceled', Code.Canceled);
}
