import type { Call } from '../call/call.js';
import type { LongStreams } from '../call/long-streams.js';
import { OK_TRAILERS } from '../wire/encode-status.js';
import type { EvaluationCodec, StreamReply } from '../wire/evaluation-codec.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { addNotes, maxReplyBytes, type ReplyFields } from '../wire/reply.js';
import type { Http2Exchange } from './http2-exchange.js';
import { giveUp, type LaneEnvironment } from './lane-environment.js';
import { checkSize, type RpcRouteOptions } from './rpc-routes.js';
import type { Turns, TurnTaker } from './turns.js';

/** Bytes that may be unsent before reading from the client stops. */
const MAX_UNSENT_BYTES = 128 * 1024;

export interface StreamEnvironment extends LaneEnvironment, RpcRouteOptions {
  readonly metrics: LaneEnvironment['metrics'];
  readonly codec: EvaluationCodec;
  readonly longStreams: LongStreams;
}

/** The answers of one stream, which are sent together, once per turn of the event loop. */
export class StreamOutput {
  readonly #env: StreamEnvironment;
  readonly #exchange: Http2Exchange;
  readonly #call: Call;
  readonly #turns: Turns;
  readonly #stream: TurnTaker;
  #replies: StreamReply[] = [];
  #isBlocked = false;
  #isFlushDue = false;
  /** Whether the headers of the reply are sent. */
  #isOpen = false;
  #trailers: ReplyFields = OK_TRAILERS;

  constructor(env: StreamEnvironment, exchange: Http2Exchange, call: Call, turns: Turns, stream: TurnTaker) {
    this.#env = env;
    this.#exchange = exchange;
    this.#call = call;
    this.#turns = turns;
    this.#stream = stream;
  }

  /** Whether the client does not read what was sent; the end of that calls `resume` of the stream. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Adds an answer, for the end of the turn. */
  add(reply: StreamReply): void {
    this.#replies.push(reply);
    this.#dueFlush();
  }

  /** Sends the answers of a turn. Throws if one of them is too large. */
  flush(): void {
    this.#isFlushDue = false;
    if (this.#call.code !== null) return;
    const replies = this.take();
    if (replies === undefined) return;
    this.send(replies);
    const { stream } = this.#exchange;
    if (stream.writableLength < MAX_UNSENT_BYTES) return;
    this.#isBlocked = true;
    stream.once('drain', () => {
      this.#isBlocked = false;
      this.#dueFlush();
      this.#stream.resume();
    });
  }

  /** The answers that are not sent yet, in their envelopes. Throws if one of them is too large. */
  take(): Buffer | undefined {
    if (this.#replies.length === 0) return undefined;
    const replies = this.#replies;
    this.#replies = [];
    const framed = this.#env.codec.frameStream(replies);
    checkSize(framed, maxReplyBytes(this.#env.maxMessageBytes));
    return framed;
  }

  /** Sends envelopes. Must not be called once the call is over. */
  send(replies: Buffer): void {
    this.#orGiveUp(() => {
      this.#open();
      this.#exchange.write(replies);
    });
  }

  /** Sends the last envelopes and the status. */
  end(trailers: ReplyFields, last: Buffer | undefined): void {
    this.#trailers = trailers;
    this.#orGiveUp(() => {
      if (trailers !== OK_TRAILERS && last === undefined && !this.#isOpen) {
        const headers = addNotes({ ...this.#head(), ...trailers }, this.#call);
        this.#exchange.reply({ status: 200, headers, body: undefined });
        return;
      }
      this.#open();
      this.#exchange.end(last);
    });
  }

  #dueFlush(): void {
    if (this.#isFlushDue || this.#isBlocked) return;
    this.#isFlushDue = true;
    this.#turns.flushLater(this.#stream);
  }

  #open(): void {
    if (this.#isOpen || this.#exchange.isClosed) return;
    this.#isOpen = true;
    this.#exchange.open(200, this.#head(), () => addNotes({ ...this.#trailers }, this.#call));
  }

  #head(): ReplyFields {
    const headers = this.#env.head(this.#exchange.headers, this.#call.requestId);
    headers['content-type'] = MEDIA_TYPES.grpcProto;
    return headers;
  }

  #orGiveUp(step: () => void): void {
    try {
      step();
    } catch (error) {
      giveUp(error, this.#call, this.#exchange, this.#env);
    }
  }
}
