import { Code, ConnectError } from '@connectrpc/connect';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { Call } from '../call/call.js';
import { type CallMeter, rpcRoute } from '../call/call-host.js';
import type { RpcMethod } from '../descriptors/rpc-methods.js';
import { type EvaluationCalls, reportOutcomes, reportVerdict } from '../evaluation/evaluation-calls.js';
import {
  type EvaluationRpc,
  type HeavySteps,
  type HeldMessage,
  onlyEvaluation,
  withHeldMessage,
} from '../evaluation/heavy-steps.js';
import { PREFIX_LENGTH } from '../wire/envelope.js';
import type { EvaluationFields, EvaluationOutcome, MessageForm } from '../wire/evaluation-codec.js';
import { undecodableMessage } from '../wire/message-errors.js';
import type { MessageSource } from '../wire/message-reader.js';
import { maxReplyBytes, type Reply, type ReplyFields } from '../wire/reply.js';
import { codeWord } from '../wire/rpc-status.js';
import type { Framing } from './framings/framing.js';
import type { Exchange } from './lane-environment.js';
import { callCanceled } from './outside-end.js';
import type { ReplyHead } from './reply-head.js';
import type { UnaryRoute, UnaryWork } from './unary-call.js';

export interface RpcRouteOptions {
  readonly calls: EvaluationCalls;
  readonly heavySteps: HeavySteps;
  readonly metrics: Pick<CallMeter, 'rpcStarted' | 'rpcEnded'>;
  /** Largest request message, in bytes. */
  readonly maxMessageBytes: number;
  readonly head: ReplyHead;
}

/** The unary RPCs of the evaluation in one framing. Undefined for other methods. */
export function evaluationRoute(
  method: RpcMethod,
  framing: Framing,
  options: RpcRouteOptions,
): UnaryRoute | undefined {
  const { calls } = options;
  const { form } = framing;
  switch (method.desc.name) {
    case 'Evaluate':
      return createRoute<EvaluationFields>(method, framing, options, {
        rpc: 'evaluate',
        decode: form.decodeEvaluate,
        held: onlyEvaluation,
        answer(fields, call) {
          const verdict = calls.evaluate(fields, call);
          if (!(verdict instanceof Promise)) return framedVerdict(form, verdict, call);
          return verdict.then((late) => framedVerdict(form, late, call));
        },
      });
    case 'EvaluateBatch':
      return createRoute<readonly EvaluationFields[]>(method, framing, options, {
        rpc: 'evaluateBatch',
        decode: form.decodeBatch,
        held: ({ evaluations }) => evaluations,
        answer(evaluations, call) {
          const outcomes = calls.batch(evaluations, call);
          if (!(outcomes instanceof Promise)) return framedBatch(form, outcomes, call);
          return outcomes.then((late) => framedBatch(form, late, call));
        },
      });
    default:
      return undefined;
  }
}

function framedVerdict(form: MessageForm, verdict: RevisedVerdict, call: Call): Buffer {
  reportVerdict(verdict, call);
  return form.frameVerdict(verdict);
}

function framedBatch(form: MessageForm, outcomes: readonly EvaluationOutcome[], call: Call): Buffer {
  reportOutcomes(outcomes, call);
  return form.frameBatch(outcomes);
}

/** Decodes and answers the message of an RPC. */
interface RpcWork<Message> {
  readonly rpc: EvaluationRpc;
  decode(bytes: Buffer): Message;
  /** The message of one that was read elsewhere. */
  held(message: HeldMessage): Message;
  /** The reply in its envelope. Throws or rejects on errors. */
  answer(message: Message, call: Call): Buffer | Promise<Buffer>;
}

function createRoute<Message>(
  method: RpcMethod,
  framing: Framing,
  options: RpcRouteOptions,
  work: RpcWork<Message>,
): UnaryRoute {
  return {
    callRoute: rpcRoute(options.metrics, method, method.name, framing.protocol),
    isRpc: true,
    gone: callCanceled,
    work: (exchange, requestId) => new RpcCallWork(framing, options, work, exchange, requestId),
  };
}

/** The work of one call: its body is one message. */
class RpcCallWork<Message> implements UnaryWork {
  readonly #framing: Framing;
  readonly #options: RpcRouteOptions;
  readonly #work: RpcWork<Message>;
  readonly #exchange: Exchange;
  readonly #requestId: string;
  readonly #source: MessageSource;
  #message: Message | undefined;
  /** The bytes of a message that is read elsewhere. */
  #heavy: Buffer | undefined;

  constructor(
    framing: Framing,
    options: RpcRouteOptions,
    work: RpcWork<Message>,
    exchange: Exchange,
    requestId: string,
  ) {
    this.#framing = framing;
    this.#options = options;
    this.#work = work;
    this.#exchange = exchange;
    this.#requestId = requestId;
    this.#source = framing.source(options.maxMessageBytes);
  }

  push(chunk: Buffer): number {
    this.#source.push(chunk);
    for (let bytes = this.#source.next(); bytes !== undefined; bytes = this.#source.next()) this.#take(bytes);
    return this.#source.heldBytes + (this.#heavy?.length ?? 0);
  }

  answer(call: Call): Reply | Promise<Reply> {
    const last = this.#source.last();
    if (last !== undefined) this.#take(last);
    const framed = this.#framed(call);
    return framed instanceof Promise
      ? framed.then((late) => this.#reply(late, call))
      : this.#reply(framed, call);
  }

  failed(error: unknown, call: Call): Reply {
    const status = call.statusOf(error);
    call.code = codeWord(status.code);
    return this.#framing.failure(this.#head(), status, call);
  }

  clear(): void {
    this.#source.clear();
    this.#heavy = undefined;
  }

  #take(bytes: Buffer): void {
    const isExtra = this.#message !== undefined || this.#heavy !== undefined;
    if (!this.#options.heavySteps.takes(this.#work.rpc, bytes.length)) {
      const message = this.#decoded(bytes);
      if (isExtra) throw wrongCount('received extra');
      this.#message = message;
    } else if (isExtra) throw wrongCount('received extra');
    else this.#heavy = bytes;
  }

  #decoded(bytes: Buffer): Message {
    try {
      return this.#work.decode(bytes);
    } catch (error) {
      if (error instanceof ConnectError) throw error;
      throw undecodableMessage(error instanceof Error ? error.message : String(error));
    }
  }

  #framed(call: Call): Buffer | Promise<Buffer> {
    if (this.#message !== undefined) return this.#work.answer(this.#message, call);
    const bytes = this.#heavy;
    if (bytes === undefined) throw wrongCount('missing');
    const { rpc } = this.#work;
    const { heavy } = this.#framing.form;
    return withHeldMessage(this.#options.heavySteps, { rpc, form: heavy, bytes }, (held) =>
      this.#work.answer(this.#work.held(held), call),
    );
  }

  #reply(framed: Buffer, call: Call): Reply {
    checkSize(framed, maxReplyBytes(this.#options.maxMessageBytes));
    return this.#framing.success(this.#head(), framed, call);
  }

  #head(): ReplyFields {
    return this.#options.head(this.#exchange.headers, this.#requestId);
  }
}

/** Throws if a message of an envelope is larger than `limit`; worded like Connect's error. */
export function checkSize(framed: Buffer, limit: number): void {
  if (framed.length <= limit) return;
  for (let at = 0; at < framed.length; ) {
    const size = framed.readUInt32BE(at + 1);
    if (size > limit) {
      const text = `message size ${size} is larger than configured writeMaxBytes ${limit}`;
      throw new ConnectError(text, Code.ResourceExhausted);
    }
    at += PREFIX_LENGTH + size;
  }
}

/** Worded like Connect's error. */
function wrongCount(problem: 'missing' | 'received extra'): ConnectError {
  const text = `protocol error: ${problem} input message for unary method`;
  return new ConnectError(text, Code.Unimplemented);
}
