import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import type { CallTicket } from '../admission/call-ticket.js';
import { Call, type CallSource } from '../call/call.js';
import type { CallRoute } from '../call/call-host.js';
import { LONGEST_TIMER_MS } from '../call/call-time.js';
import { callerTimeoutOf, deadlinePassed } from '../call/deadline.js';
import { undecodableMessage } from '../wire/message-errors.js';
import { maxReplyBytes } from '../wire/message-limits.js';
import { REQUEST_ID_HEADER, requestIdOf, VERSION_HEADER } from '../wire/reply-headers.js';
import { codeWord } from '../wire/rpc-status.js';
import { OK_TRAILERS, statusTrailers } from '../wire/trailers.js';
import type { LaneEnvironment } from './lane-environment.js';

/**
 * One call on its HTTP/2 stream: headers and trailers, its end, metrics and logging. Subclasses implement
 * what happens in between. No event handler of a call ever throws.
 */
export abstract class LaneCall implements CallSource {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly ticket: CallTicket;
  protected readonly env: LaneEnvironment;
  protected readonly call: Call;
  protected readonly stream: ServerHttp2Stream;
  #trailers: OutgoingHttpHeaders = OK_TRAILERS;
  #cancel: AbortController | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The caller's deadline in the time of `performance.now`; infinite without one. */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(
    env: LaneEnvironment,
    route: CallRoute,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
  ) {
    this.env = env;
    this.stream = stream;
    this.headers = headers;
    this.requestId = requestIdOf(headers);
    this.ticket = env.admission.ticket(stream.session, headers['x-forwarded-for']);
    this.call = new Call(env, route, this);
    stream.once('close', () => this.#closed());
  }

  /** Starts the call if it is allowed. None of its body is read before. */
  start(apiKey: string | undefined): void {
    this.guarded(() => {
      this.call.enterWithKey(apiKey);
      if (this.headers['grpc-timeout'] !== undefined) {
        const { ms, error } = callerTimeoutOf('grpc', (name) => this.call.header(name));
        if (error !== undefined) throw error;
        this.#deadline = this.call.startedAt + ms;
      }
      this.startReading();
    });
  }

  /** Whether the status is final. */
  protected get isOver(): boolean {
    return this.call.code !== null;
  }

  callerSignal(): AbortSignal {
    if (this.#cancel === null) {
      this.#cancel = new AbortController();
      if (this.stream.closed || this.stream.destroyed) this.#cancel.abort(callCanceled());
      else this.env.running.add(this);
    }
    return this.#cancel.signal;
  }

  /** Must call `read`. */
  protected abstract startReading(): void;
  protected abstract onChunk(chunk: Buffer): void;
  protected abstract onEnd(): void;
  /** Releases buffered input: the call is over. */
  protected abstract letGo(): void;

  /** Starts reading the body. */
  protected read(): void {
    const { stream } = this;
    stream.on('data', (chunk: Buffer) => this.guarded(() => this.onChunk(chunk)));
    stream.once('end', () => this.guarded(() => this.onEnd()));
  }

  /** Accounts for the bytes of an incomplete message. Throws if the connection holds too many. */
  protected hold(bytes: number): void {
    this.ticket.hold(bytes);
  }

  /** Ends the call at its deadline, or after `limitMs` if that is sooner. Replaces the previous limit. */
  protected endAfter(limitMs: number, onLimit: () => ConnectError): void {
    clearTimeout(this.#timer);
    const leftMs = this.#deadline - performance.now();
    const [waitMs, reason] = leftMs < limitMs ? [leftMs, deadlinePassed] : [limitMs, onLimit];
    if (waitMs <= LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.stop(reason()), waitMs);
  }

  /** Needed because a timer may be late. */
  protected checkDeadline(): void {
    if (this.#deadline !== Number.POSITIVE_INFINITY && performance.now() >= this.#deadline)
      throw deadlinePassed();
  }

  /** Ends the call from outside: on timeout, or when the server shuts down. */
  stop(reason: ConnectError): void {
    this.fail(reason);
    this.#cancel?.abort(reason);
  }

  /** Runs a part of the call; an error ends the call. */
  protected guarded(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Decodes a message. */
  protected decoded<Message>(decode: (bytes: Buffer) => Message, bytes: Buffer): Message {
    try {
      return decode(bytes);
    } catch (error) {
      throw undecodableMessage(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends the call with an error; `last` are the replies before it. */
  fail(error: unknown, last?: Buffer): void {
    if (this.isOver) return;
    const status = this.call.statusOf(error);
    try {
      this.#trailers = statusTrailers(status);
    } catch {
      // The details cannot be sent as trailers; the status code can.
      this.#trailers = { 'grpc-status': String(status.code) };
    }
    this.#end(codeWord(status.code), last);
  }

  /** Ends the call successfully; `last` are its last replies. */
  protected succeed(last?: Buffer): void {
    if (!this.isOver) this.#end('ok', last);
  }

  /** Sends replies. Must not be called once the call is over. */
  protected send(replies: Buffer): void {
    this.#respond();
    if (this.#isWritable) this.stream.write(replies);
  }

  /** Throws if the replies contain a message above the limit. */
  protected checkedSize(replies: Buffer): Buffer {
    const limit = maxReplyBytes(this.env.maxMessageBytes);
    if (replies.length <= limit) return replies;
    for (let at = 0; at < replies.length; ) {
      const size = replies.readUInt32BE(at + 1);
      if (size > limit) {
        const text = `message size ${size} is larger than configured writeMaxBytes ${limit}`;
        throw new ConnectError(text, Code.ResourceExhausted);
      }
      at += 5 + size;
    }
    return replies;
  }

  #end(code: string, last: Buffer | undefined): void {
    this.call.code = code;
    clearTimeout(this.#timer);
    this.letGo();
    this.hold(0);
    const { stream } = this;
    this.#orGiveUp(() => {
      if (code !== 'ok' && last === undefined && !stream.headersSent) return this.#refuse();
      this.#respond();
      if (this.#isWritable) stream.end(last);
    });
    if (stream.readableEnded) return;
    // Discard further input; left unread it would keep the stream open.
    stream.removeAllListeners('data');
    stream.resume();
  }

  /** Runs a step that Node.js may refuse for unknown reasons. Callers could not handle the error. */
  #orGiveUp(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.env.log.error(
        {
          err: error,
          requestId: this.requestId,
          rpc: this.call.route.path.slice(1),
          ...this.call.traceFacts(),
        },
        'a reply failed',
      );
      // Frames may be being read, see Http2Connection.
      setImmediate(() => this.stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    }
  }

  get #isWritable(): boolean {
    const { stream } = this;
    return !stream.destroyed && !stream.closed && stream.headersSent && !stream.writableEnded;
  }

  #respond(): void {
    const { stream } = this;
    // Responding on a closed stream throws.
    if (stream.headersSent || stream.destroyed || stream.closed) return;
    stream.once('wantTrailers', () => this.#sendTrailers());
    stream.respond(this.#headers(), { waitForTrailers: true });
  }

  /**
   * Answers without a message, with the status in the headers (gRPC over HTTP2, "Trailers-Only"): clients of gRPC
   * retry a call only if it has no other headers.
   */
  #refuse(): void {
    const { stream } = this;
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ...this.#headers(), ...this.#endTrailers() }, { endStream: true });
    this.#endInput();
  }

  #headers(): OutgoingHttpHeaders {
    return {
      ':status': 200,
      [VERSION_HEADER]: this.env.version,
      [REQUEST_ID_HEADER]: this.requestId,
      'content-type': 'application/grpc+proto',
    };
  }

  /** The status, and what the call reported. */
  #endTrailers(): OutgoingHttpHeaders {
    const trailers = { ...this.#trailers };
    this.call.notes((name, value) => {
      trailers[name] = value;
    });
    return trailers;
  }

  #sendTrailers(): void {
    const { stream } = this;
    if (stream.destroyed || stream.closed) return;
    this.#orGiveUp(() => stream.sendTrailers(this.#endTrailers()));
    this.#endInput();
  }

  #endInput(): void {
    const { stream } = this;
    if (stream.readableEnded || stream.endAfterHeaders) return;
    // After the trailers, see RFC 9113, section 8.1: the client may still send input that is not read.
    setImmediate(() => {
      if (!stream.readableEnded && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  #closed(): void {
    clearTimeout(this.#timer);
    this.call.code ??= 'canceled';
    this.#cancel?.abort(callCanceled());
    this.call.end(200);
    this.letGo();
    this.env.running.delete(this);
  }
}

function callCanceled(): ConnectError {
  return new ConnectError('the call was canceled', Code.Canceled);
}
