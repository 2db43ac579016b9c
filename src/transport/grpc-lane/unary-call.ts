import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Call } from '../call/call.js';
import type { CallRoute } from '../call/call-host.js';
import { tooSlow } from '../call/deadline.js';
import { type EvaluationRpc, type HeldMessage, withHeldMessage } from '../evaluation/heavy-steps.js';
import { LaneCall } from './lane-call.js';
import type { LaneEnvironment } from './lane-environment.js';
import { incompleteMessage, MessageReader } from './message-reader.js';

/** Decodes and answers the message of a unary RPC. */
export interface UnaryWork<Message> {
  readonly rpc: EvaluationRpc;
  decode(bytes: Buffer): Message;
  /** The message of one that was read elsewhere. */
  held(message: HeldMessage): Message;
  /** The framed reply. Throws or rejects on errors. */
  answer(message: Message, call: Call): Buffer | Promise<Buffer>;
}

/** A call with one message in each direction. It runs after its body has ended. */
export class UnaryCall<Message> extends LaneCall {
  readonly #work: UnaryWork<Message>;
  readonly #reader: MessageReader;
  #message: Message | undefined;
  /** The bytes of a message that is read elsewhere. */
  #heavy: Buffer | undefined;

  constructor(
    env: LaneEnvironment,
    route: CallRoute,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    work: UnaryWork<Message>,
  ) {
    super(env, route, stream, headers);
    this.#work = work;
    this.#reader = new MessageReader(env.maxMessageBytes);
  }

  protected startReading(): void {
    const { requestTimeoutMs } = this.env;
    this.endAfter(requestTimeoutMs, () => tooSlow(requestTimeoutMs));
    this.read();
  }

  protected onChunk(chunk: Buffer): void {
    if (this.isOver) return;
    this.#reader.push(chunk);
    for (let bytes = this.#reader.next(); bytes !== undefined; bytes = this.#reader.next()) {
      if (this.env.heavySteps.takes(this.#work.rpc, bytes.length)) {
        if (this.#isComplete) throw wrongCount('received extra');
        this.#heavy = bytes;
        continue;
      }
      const message = this.decoded(this.#work.decode, bytes);
      if (this.#isComplete) throw wrongCount('received extra');
      this.#message = message;
    }
    this.hold(this.#reader.heldBytes + (this.#heavy?.length ?? 0));
  }

  protected onEnd(): void {
    if (this.isOver) return;
    if (this.#reader.isInsideMessage) throw incompleteMessage();
    if (!this.#isComplete) throw wrongCount('missing');
    this.checkDeadline();
    const reply = this.#answer();
    if (reply instanceof Promise) this.#wait(reply);
    else this.succeed(this.checkedSize(reply));
  }

  protected letGo(): void {
    this.#reader.clear();
  }

  get #isComplete(): boolean {
    return this.#message !== undefined || this.#heavy !== undefined;
  }

  #answer(): Buffer | Promise<Buffer> {
    const { rpc } = this.#work;
    if (this.#message !== undefined) return this.#work.answer(this.#message, this.call);
    const bytes = this.#heavy as Buffer;
    return withHeldMessage(this.env.heavySteps, { rpc, form: 'grpc', bytes }, (held) =>
      this.#work.answer(this.#work.held(held), this.call),
    );
  }

  #wait(reply: Promise<Buffer>): void {
    this.endAfter(Number.POSITIVE_INFINITY, deadlineOnly);
    const done = this.call.bound(reply) as Promise<Buffer>;
    done
      .then((late) => this.succeed(this.checkedSize(late)))
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.call.worked());
  }
}

/** Worded like Connect's error. */
function wrongCount(problem: 'missing' | 'received extra'): ConnectError {
  const text = `protocol error: ${problem} input message for unary method`;
  return new ConnectError(text, Code.Unimplemented);
}

function deadlineOnly(): never {
  throw new Error('a call without a limit has reached it');
}
