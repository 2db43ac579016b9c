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
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { Call } from '../call/call.js';
import type { LongStream, LongStreams } from '../call/long-streams.js';
import {
  type EvaluationCalls,
  reportOutcomes,
  reportVerdict,
  STREAM_WINDOW,
} from '../evaluation/evaluation-calls.js';
import { type HeavySteps, onlyEvaluation, withHeldMessage } from '../evaluation/heavy-steps.js';
import { StreamMessages } from '../evaluation/stream-messages.js';
import { toConnectError } from '../wire/error-status.js';
import type { EvaluationFields, EvaluationOutcome } from '../wire/evaluation-codec.js';
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
import { rpcCallOf, unaryRpc, writeTrailers } from './rpc-call.js';

/** The RPCs that call the evaluation directly, without conversion to plain values. */
export function evaluationRpcs(
  calls: EvaluationCalls,
  steps: HeavySteps,
  longStreams: LongStreams,
): Omit<ServiceImpl<typeof EvaluationServiceDesc>, 'explain'> {
  const evaluateFields = (fields: EvaluationFields, call: Call) => {
    const verdict = calls.evaluate(fields, call);
    const reply = (made: RevisedVerdict): EvaluateResponse => {
      reportVerdict(made, call);
      return verdictMessage(made);
    };
    return verdict instanceof Promise ? verdict.then(reply) : reply(verdict);
  };
  const evaluate = unaryRpc((message, call, { unread }) => {
    const heavy = unread?.next();
    if (heavy === undefined) return evaluateFields(evaluationFieldsOf(message as EvaluateRequest), call);
    return withHeldMessage(steps, { rpc: 'evaluate', ...heavy }, (held) =>
      evaluateFields(onlyEvaluation(held), call),
    );
  });
  const evaluateAll = (evaluations: readonly EvaluationFields[], call: Call) => {
    const outcomes = calls.batch(evaluations, call);
    const reply = (made: readonly EvaluationOutcome[]): EvaluateBatchResponse => {
      reportOutcomes(made, call);
      return batchMessage(made);
    };
    return outcomes instanceof Promise ? outcomes.then(reply) : reply(outcomes);
  };
  const batch = unaryRpc((message, call, { unread }) => {
    const heavy = unread?.next();
    if (heavy === undefined) {
      return evaluateAll((message as EvaluateBatchRequest).evaluations.map(evaluationFieldsOf), call);
    }
    return withHeldMessage(steps, { rpc: 'evaluateBatch', ...heavy }, (held) =>
      evaluateAll(held.evaluations, call),
    );
  });
  return {
    evaluate: (request, context) => evaluate(request as Message, context) as Promise<EvaluateResponse>,
    evaluateBatch: (request, context) => batch(request as Message, context) as Promise<EvaluateBatchResponse>,
    evaluateStream: (requests, context) => evaluateStream(calls, steps, longStreams, requests, context),
  };
}

async function* evaluateStream(
  calls: EvaluationCalls,
  steps: HeavySteps,
  longStreams: LongStreams,
  requests: AsyncIterable<EvaluateStreamRequest>,
  context: HandlerContext,
): AsyncGenerator<EvaluateStreamResponse> {
  const rpc = rpcCallOf(context);
  const { call } = rpc;
  const { signal } = context;
  const messages = new StreamMessages(calls, call);
  let isActive = false;
  /** Large messages are read one at a time, so that a stream holds no more of them than one. */
  let isHeavy = false;
  const answer = (message: EvaluateStreamRequest) => {
    isActive = true;
    const heavy = rpc.unread?.next();
    if (heavy !== undefined) {
      isHeavy = true;
      return withHeldMessage(steps, { rpc: 'evaluateStream', ...heavy }, async (held) => {
        const reply = await messages.answer(held);
        return reply && streamReplyMessage(reply);
      }).finally(() => {
        isHeavy = false;
      });
    }
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
    yield* inCompletionOrder(requests, STREAM_WINDOW, signal, answer, begun, () => isHeavy);
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
