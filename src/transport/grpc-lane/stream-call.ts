import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { ConnectError } from '@connectrpc/connect';
import { MAX_EVALUATIONS } from '../../decisions/evaluate-request.js';
import { FREE_BYTES } from '../admission/call-ticket.js';
import type { CallRoute } from '../call/call-host.js';
import { messageTooSlow } from '../call/deadline.js';
import type { LongStream } from '../call/long-streams.js';
import { STREAM_WINDOW } from '../evaluation/evaluation-calls.js';
import { withHeldMessage } from '../evaluation/heavy-steps.js';
import { StreamMessages } from '../evaluation/stream-messages.js';
import type { StreamReply } from '../wire/evaluation-codec.js';
import { LaneCall } from './lane-call.js';
import type { LaneEnvironment } from './lane-environment.js';
import { incompleteMessage, MessageReader } from './message-reader.js';
import type { Turns, TurnTaker } from './turns.js';

/** Bytes that may be unsent before reading from the client stops. */
const MAX_UNSENT_BYTES = 128 * 1024;

/**
 * A stream of messages, each answered by one. Answers that are ready are sent together, once per turn of the
 * event loop. Reading stops, for back-pressure, while too many messages are pending, while the client does
 * not read, and when its connection has used its share of the turn.
 */
export class StreamCall extends LaneCall implements TurnTaker, LongStream {
  readonly connection: object | undefined;
  readonly #reader: MessageReader;
  readonly #messages: StreamMessages;
  readonly #turns: Turns;
  #replies: StreamReply[] = [];
  /** Messages, and their evaluations, without an answer yet. */
  #openMessages = 0;
  #openEvaluations = 0;
  /** Bytes of the message that is read elsewhere. */
  #heavyBytes = 0;
  #isBlocked = false;
  #isFlushDue = false;
  #isWaiting = false;
  #bodyEnded = false;
  /** Whether a message has arrived since `wasActive`. */
  #isActive = false;
  /** Runs while the rest of a large message is being read. */
  #messageTimer: NodeJS.Timeout | undefined;

  constructor(
    env: LaneEnvironment,
    route: CallRoute,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    turns: Turns,
  ) {
    super(env, route, stream, headers);
    this.connection = stream.session;
    this.#reader = new MessageReader(env.maxMessageBytes);
    this.#messages = new StreamMessages(env.calls, this.call);
    this.#turns = turns;
  }

  protected startReading(): void {
    // Unlimited except for the deadline. Users of the signal are notified of a shutdown.
    this.endAfter(Number.POSITIVE_INFINITY, () => {
      throw new Error('a stream without a limit has reached it');
    });
    this.callerSignal();
    this.read();
    this.env.longStreams.add(this);
    this.call.whenWithdrawn((reason) => this.stop(reason));
  }

  notify(withinMs: number): void {
    this.guarded(() => {
      if (!this.isOver) this.send(this.env.codec.frameNotice(withinMs));
    });
  }

  wasActive(): boolean {
    const isBusy = this.#openMessages > 0 || this.#reader.isInsideMessage || this.stream.readableLength > 0;
    const wasActive = this.#isActive || isBusy || this.#isWaiting || this.#isBlocked;
    this.#isActive = false;
    return wasActive;
  }

  end(reason: ConnectError): void {
    this.stop(reason);
  }

  protected onChunk(chunk: Buffer): void {
    if (this.isOver) return;
    this.#reader.push(chunk);
    this.#work();
  }

  protected letGo(): void {
    this.env.longStreams.remove(this);
    this.#stopMessageTimer();
    this.#reader.clear();
  }

  protected onEnd(): void {
    this.#bodyEnded = true;
    this.#work();
  }

  flush(): void {
    this.#isFlushDue = false;
    if (this.isOver || this.#replies.length === 0) return;
    this.guarded(() => {
      this.send(this.#takeReplies());
      if (this.stream.writableLength < MAX_UNSENT_BYTES) return;
      this.#isBlocked = true;
      this.stream.once('drain', () => {
        this.#isBlocked = false;
        this.#dueFlush();
        this.resume();
      });
    });
  }

  resume(): void {
    this.#isWaiting = false;
    this.guarded(() => this.#work());
  }

  /** Sends the answers that precede the failure first. */
  override fail(error: unknown): void {
    if (this.isOver) return;
    let last: Buffer | undefined;
    try {
      if (this.#replies.length > 0) last = this.#takeReplies();
    } catch {
      // The answers cannot be sent; the failure can.
    }
    super.fail(error, last);
  }

  /** Answers received messages, as far as limits allow. */
  #work(): void {
    while (!this.isOver) {
      if (!this.#mayGoOn()) {
        this.#stopMessageTimer();
        this.hold(this.#reader.heldBytes + this.#heavyBytes);
        this.stream.pause();
        return;
      }
      const bytes = this.#reader.next();
      if (bytes === undefined) break;
      this.#stopMessageTimer();
      this.#answer(bytes);
    }
    if (this.isOver) return;
    this.hold(this.#reader.heldBytes + this.#heavyBytes);
    if (!this.#bodyEnded) {
      if (this.#reader.heldBytes > FREE_BYTES) this.#startMessageTimer();
      if (this.stream.isPaused()) this.stream.resume();
    } else if (this.#reader.isInsideMessage) throw incompleteMessage();
    else if (this.#openMessages === 0)
      this.succeed(this.#replies.length > 0 ? this.#takeReplies() : undefined);
  }

  /** Limits how long a large message is held. Small ones do not need a timer. */
  #startMessageTimer(): void {
    const { requestTimeoutMs } = this.env;
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
    if (this.#isBlocked || this.#heavyBytes > 0 || this.#openMessages >= STREAM_WINDOW) return false;
    if (this.#openEvaluations >= MAX_EVALUATIONS) return false;
    if (this.#turns.mayGoOn) return true;
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.#turns.resumeLater(this);
    }
    return false;
  }

  #answer(bytes: Buffer): void {
    if (this.env.heavySteps.takes('evaluateStream', bytes.length)) {
      this.#answerElsewhere(bytes);
      return;
    }
    const message = this.decoded(this.env.codec.decodeStream, bytes);
    const evaluations = message.evaluations.length;
    this.#isActive = true;
    this.#turns.spend(Math.max(1, evaluations), bytes.length);
    const reply = this.#messages.answer(message);
    if (reply === null) return;
    if (!(reply instanceof Promise)) {
      this.#ready(reply);
      return;
    }
    this.#openMessages += 1;
    this.#openEvaluations += evaluations;
    reply.then(
      (late) => {
        this.#openMessages -= 1;
        this.#openEvaluations -= evaluations;
        this.#ready(late);
        this.guarded(() => this.#work());
      },
      (error: unknown) => this.fail(error),
    );
  }

  /** Answers a large message, which another thread reads. */
  #answerElsewhere(bytes: Buffer): void {
    const { length } = bytes;
    this.#isActive = true;
    this.#turns.spend(1, length);
    this.#openMessages += 1;
    this.#heavyBytes += length;
    withHeldMessage(this.env.heavySteps, { rpc: 'evaluateStream', form: 'grpc', bytes }, async (held) => {
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
        if (reply !== null) this.#ready(reply);
        this.guarded(() => this.#work());
      },
      (error: unknown) => this.fail(error),
    );
  }

  #ready(reply: StreamReply): void {
    this.#replies.push(reply);
    this.#dueFlush();
  }

  #dueFlush(): void {
    if (this.#isFlushDue || this.#isBlocked) return;
    this.#isFlushDue = true;
    this.#turns.flushLater(this);
  }

  #takeReplies(): Buffer {
    const replies = this.#replies;
    this.#replies = [];
    return this.checkedSize(this.env.codec.frameStream(replies));
  }
}
