import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Call } from '../call/call.js';
import type { CallRoute } from '../call/call-host.js';
import { tooSlow } from '../call/deadline.js';
import { LaneCall } from './lane-call.js';
import type { LaneEnvironment } from './lane-environment.js';
import { incompleteMessage, MessageReader } from './message-reader.js';

/** Decodes and answers the message of a unary RPC. */
export interface UnaryWork<Message> {
  decode(bytes: Buffer): Message;
  /** The framed reply. Throws or rejects on errors. */
  answer(message: Message, call: Call): Buffer | Promise<Buffer>;
}

/** A call with one message in each direction. It runs after its body has ended. */
export class UnaryCall<Message> extends LaneCall {
  readonly #work: UnaryWork<Message>;
  readonly #reader: MessageReader;
  #message: Message | undefined;

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
      const message = this.decoded(this.#work.decode, bytes);
      if (this.#message !== undefined) throw wrongCount('received extra');
      this.#message = message;
    }
    this.hold(this.#reader.heldBytes);
  }

  protected onEnd(): void {
    if (this.isOver) return;
    if (this.#reader.isInsideMessage) throw incompleteMessage();
    if (this.#message === undefined) throw wrongCount('missing');
    this.checkDeadline();
    const reply = this.#work.answer(this.#message, this.call);
    if (reply instanceof Promise) this.#wait(reply);
    else this.succeed(this.checkedSize(reply));
  }

  protected letGo(): void {
    this.#reader.clear();
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
