import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectError } from '@connectrpc/connect';
import { MAX_EVALUATIONS } from '../../decide/decisions/evaluate-request.js';
import { type CallTicket, FREE_BYTES } from '../admission/call-ticket.js';
import { Call, type CallSource } from '../call/call.js';
import type { CallRoute } from '../call/call-host.js';
import { messageTooSlow } from '../call/deadline.js';
import type { LongStream } from '../call/long-streams.js';
import { STREAM_WINDOW } from '../evaluation/evaluation-calls.js';
import { withHeldMessage } from '../evaluation/heavy-steps.js';
import { StreamMessages } from '../evaluation/stream-messages.js';
import { OK_TRAILERS } from '../wire/encode-status.js';
import type { StreamFields } from '../wire/evaluation-codec.js';
import { undecodableMessage } from '../wire/message-errors.js';
import { MessageReader } from '../wire/message-reader.js';
import type { ReplyFields } from '../wire/reply.js';
import { requestIdOf } from '../wire/reply-headers.js';
import { codeWord } from '../wire/rpc-status.js';
import { trailersOf } from './framings/grpc.js';
import type { Http2Exchange } from './http2-exchange.js';
import { giveUp } from './lane-environment.js';
import { callCanceled, OutsideEnd, type StoppableCall } from './outside-end.js';
import { type StreamEnvironment, StreamOutput } from './stream-output.js';
import type { Turns, TurnTaker } from './turns.js';

/**
 * A stream of messages, each answered by one. Answers that are ready are sent together, once per turn of the
 * event loop. Reading stops, for back-pressure, while too many messages are pending, while the client does
 * not read, and when its connection has used its share of the turn.
 */
export class StreamCall implements CallSource, StoppableCall, TurnTaker, LongStream {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly ticket: CallTicket;
  readonly connection: object | undefined;
  readonly #env: StreamEnvironment;
  readonly #exchange: Http2Exchange;
  readonly #call: Call;
  readonly #outside: OutsideEnd;
  readonly #reader: MessageReader;
  readonly #messages: StreamMessages;
  readonly #turns: Turns;
  readonly #output: StreamOutput;
  /** Messages, and their evaluations, without an answer yet. */
  #openMessages = 0;
  #openEvaluations = 0;
  /** Bytes of the message that is read elsewhere. */
  #heavyBytes = 0;
  #isWaiting = false;
  #bodyEnded = false;
  /** Whether a message has arrived since `wasActive`. */
  #isActive = false;
  /** Runs while the rest of a large message is being read. */
  #messageTimer: NodeJS.Timeout | undefined;

  constructor(env: StreamEnvironment, route: CallRoute, exchange: Http2Exchange, turns: Turns) {
    this.#env = env;
    this.#exchange = exchange;
    this.headers = exchange.headers;
    this.requestId = requestIdOf(exchange.headers);
    this.connection = exchange.connection;
    this.ticket = env.admission.ticket(exchange.connection, exchange.headers['x-forwarded-for']);
    this.#call = new Call(env, route, this);
    this.#outside = new OutsideEnd(this, env.running);
    this.#reader = new MessageReader(env.maxMessageBytes);
    this.#messages = new StreamMessages(env.calls, this.#call);
    this.#turns = turns;
    this.#output = new StreamOutput(env, exchange, this.#call, turns, this);
    exchange.onClose(
      () => this.#closed(),
      (error) => giveUp(error, this.#call, exchange, env),
    );
  }

  callerSignal(): AbortSignal {
    return this.#outside.signal(this.#exchange.isClosed ? callCanceled() : undefined);
  }

  /** Starts the call if it is allowed. None of its body is read before. */
  start(apiKey: string | undefined): void {
    this.#guarded(() => {
      this.#call.enterWithKey(apiKey);
      this.#outside.readDeadline(this.#call, this.headers);
      this.#outside.atDeadline();
      // Users of the signal are notified of a shutdown.
      void this.#call.signal;
      this.#exchange.read(
        (chunk) => this.#guarded(() => this.#push(chunk)),
        () => this.#guarded(() => this.#readEnd()),
      );
      this.#env.longStreams.add(this);
      this.#call.whenWithdrawn((reason) => this.stop(reason));
    });
  }

  /** Ends the call from outside: on timeout, or when the server shuts down. */
  stop(reason: Error): void {
    this.#fail(reason);
    this.#outside.abort(reason);
  }

  notify(withinMs: number): void {
    this.#guarded(() => {
      if (!this.#isOver) this.#output.send(this.#env.codec.frameNotice(withinMs));
    });
  }

  wasActive(): boolean {
    const isBusy =
      this.#openMessages > 0 || this.#reader.isInsideMessage || this.#exchange.stream.readableLength > 0;
    const wasActive = this.#isActive || isBusy || this.#isWaiting || this.#output.isBlocked;
    this.#isActive = false;
    return wasActive;
  }

  end(reason: ConnectError): void {
    this.stop(reason);
  }

  /** Whether the status is final. */
  get #isOver(): boolean {
    return this.#call.code !== null;
  }

  #push(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#reader.push(chunk);
    this.#work();
  }

  #readEnd(): void {
    this.#bodyEnded = true;
    this.#work();
  }

  flush(): void {
    this.#guarded(() => this.#output.flush());
  }

  resume(): void {
    this.#isWaiting = false;
    this.#guarded(() => this.#work());
  }

  /** Runs a part of the call; an error ends the call. */
  #guarded(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ends the call with an error. Sends the answers that precede it first. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    let last: Buffer | undefined;
    try {
      last = this.#output.take();
    } catch {
      // The answers cannot be sent; the failure can.
    }
    const status = this.#call.statusOf(error);
    this.#end(codeWord(status.code), trailersOf(status), last);
  }

  #end(code: string, trailers: ReplyFields, last: Buffer | undefined): void {
    this.#call.code = code;
    this.#outside.stopTimer();
    this.#letGo();
    this.ticket.hold(0);
    this.#output.end(trailers, last);
  }

  #letGo(): void {
    this.#env.longStreams.remove(this);
    this.#stopMessageTimer();
    this.#reader.clear();
  }

  #closed(): void {
    this.#call.code ??= 'canceled';
    this.#outside.close(callCanceled);
    this.#call.end(200);
    this.#letGo();
  }

  /** Answers received messages, as far as limits allow. */
  #work(): void {
    while (!this.#isOver) {
      if (!this.#mayGoOn()) {
        this.#stopMessageTimer();
        this.ticket.hold(this.#reader.heldBytes + this.#heavyBytes);
        this.#exchange.stream.pause();
        return;
      }
      const bytes = this.#reader.next();
      if (bytes === undefined) break;
      this.#stopMessageTimer();
      this.#answer(bytes);
    }
    if (this.#isOver) return;
    this.ticket.hold(this.#reader.heldBytes + this.#heavyBytes);
    if (!this.#bodyEnded) {
      if (this.#reader.heldBytes > FREE_BYTES) this.#startMessageTimer();
      if (this.#exchange.stream.isPaused()) this.#exchange.stream.resume();
      return;
    }
    this.#reader.last();
    if (this.#openMessages === 0) this.#end('ok', OK_TRAILERS, this.#output.take());
  }

  /** Limits how long a large message is held. Small ones do not need a timer. */
  #startMessageTimer(): void {
    const { requestTimeoutMs } = this.#env;
    this.#messageTimer ??= setTimeout(() => this.stop(messageTooSlow(requestTimeoutMs)), requestTimeoutMs);
  }

  #stopMessageTimer(): void {
    if (this.#messageTimer === undefined) return;
    clearTimeout(this.#messageTimer);
    this.#messageTimer = undefined;
  }

  /** The end of each pause calls `resume`. */
  #mayGoOn(): boolean {
    // Large messages are read one at a time, so that a stream holds no more of them than one.
    if (this.#output.isBlocked || this.#heavyBytes > 0 || this.#openMessages >= STREAM_WINDOW) return false;
    if (this.#openEvaluations >= MAX_EVALUATIONS) return false;
    if (this.#turns.mayGoOn) return true;
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.#turns.resumeLater(this);
    }
    return false;
  }

  #answer(bytes: Buffer): void {
    if (this.#env.heavySteps.takes('evaluateStream', bytes.length)) {
      this.#answerElsewhere(bytes);
      return;
    }
    const message = this.#decoded(bytes);
    const evaluations = message.evaluations.length;
    this.#isActive = true;
    this.#turns.spend(Math.max(1, evaluations), bytes.length);
    const reply = this.#messages.answer(message);
    if (reply === null) return;
    if (!(reply instanceof Promise)) {
      this.#output.add(reply);
      return;
    }
    this.#openMessages += 1;
    this.#openEvaluations += evaluations;
    reply.then(
      (late) => {
        this.#openMessages -= 1;
        this.#openEvaluations -= evaluations;
        this.#output.add(late);
        this.#guarded(() => this.#work());
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #decoded(bytes: Buffer): StreamFields {
    try {
      return this.#env.codec.decodeStream(bytes);
    } catch (error) {
      throw undecodableMessage(error instanceof Error ? error.message : String(error));
    }
  }

  /** Answers a large message, which another thread reads. */
  #answerElsewhere(bytes: Buffer): void {
    const { length } = bytes;
    this.#isActive = true;
    this.#turns.spend(1, length);
    this.#openMessages += 1;
    this.#heavyBytes += length;
    withHeldMessage(this.#env.heavySteps, { rpc: 'evaluateStream', form: 'grpc', bytes }, async (held) => {
      const evaluations = held.evaluations.length;
      this.#openEvaluations += evaluations;
      try {
        return await this.#messages.answer(held);
      } finally {
        this.#openEvaluations -= evaluations;
      }
    }).then(
      (reply) => {
        this.#openMessages -= 1;
        this.#heavyBytes -= length;
        if (reply !== null) this.#output.add(reply);
        this.#guarded(() => this.#work());
      },
      (error: unknown) => this.#fail(error),
    );
  }
}
