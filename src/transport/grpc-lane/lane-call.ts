import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { parseTimeout } from '@connectrpc/connect/protocol-grpc';
import { TARGET_WARNING } from '../../contract/input/target.js';
import type { CallTicket } from '../admission/call-ticket.js';
import { deadlinePassed } from '../call/body-time.js';
import { LONGEST_TIMER_MS } from '../call/call-time.js';
import { logRpcError, rpcStatus } from '../connect/unary.js';
import type { RpcCaller } from '../evaluation/evaluation-calls.js';
import { undecodableMessage } from '../wire/message-errors.js';
import {
  REQUEST_ID_HEADER,
  REVISION_HEADER,
  requestIdOf,
  STALENESS_HEADER,
  VERSION_HEADER,
  WARNING_HEADER,
  warningHeader,
} from '../wire/reply-headers.js';
import { codeWord, type RpcStatus } from '../wire/rpc-status.js';
import { OK_TRAILERS, statusTrailers } from '../wire/trailers.js';
import type { LaneEnvironment, LaneMethod } from './lane-environment.js';

/** Receives the values reported in trailers. */
export interface LaneReport {
  reportRevision(revision: number): void;
  reportStaleness(seconds: number): void;
}

const TARGET_TRAILERS = { [WARNING_HEADER]: warningHeader([TARGET_WARNING]) };

/** Replies are built from stored data, which is bounded; a safety net with the same limit as in Connect. */
const WRITE_LIMIT_FACTOR = 4;

/**
 * One call on its HTTP/2 stream: headers and trailers, its end, metrics and logging. Subclasses implement
 * what happens in between. No event handler of a call ever throws.
 */
export abstract class LaneCall implements RpcCaller, LaneReport {
  readonly protocol = 'grpc';
  protected readonly env: LaneEnvironment;
  protected readonly method: LaneMethod;
  protected readonly stream: ServerHttp2Stream;
  readonly #requestId: string;
  readonly #headers: IncomingHttpHeaders;
  readonly #startedAt = performance.now();
  readonly #ticket: CallTicket;
  /** The status for the metrics; null while the call runs. */
  #code: string | null = null;
  #trailers: OutgoingHttpHeaders = OK_TRAILERS;
  #namesTarget = false;
  #cancel: AbortController | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The caller's deadline in the time of `performance.now`; infinite without one. */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(
    env: LaneEnvironment,
    method: LaneMethod,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
  ) {
    this.env = env;
    this.method = method;
    this.stream = stream;
    this.#headers = headers;
    this.#requestId = requestIdOf(headers);
    this.#ticket = env.admission.ticket(stream.session, headers['x-forwarded-for']);
    env.metrics.rpcStarted(method.name, this.protocol);
    stream.once('close', () => this.#closed());
  }

  /** Starts the call if it is allowed. None of its body is read before. */
  start(apiKey: string | undefined): void {
    this.guarded(() => {
      this.env.entrance.enterWithKey(this.#ticket, this.method, apiKey);
      const timeout = this.#headers['grpc-timeout'] as string | undefined;
      if (timeout !== undefined) this.#deadline = this.#startedAt + timeoutMs(timeout);
      this.startReading();
    });
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** Whether the status is final. */
  protected get isOver(): boolean {
    return this.#code !== null;
  }

  spend(evaluations: number): void {
    this.#ticket.spend(evaluations);
  }

  signal(): AbortSignal {
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
    this.#ticket.hold(bytes);
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

  /** Converts the error of one of many evaluations to its status. */
  protected readonly itemFailed = (error: unknown): RpcStatus => {
    const status = rpcStatus(error);
    logRpcError(this.env, this.method.name, this.#requestId, status, error);
    return status;
  };

  /** Reports the revision that was used for the answer. */
  reportRevision(revision: number): void {
    this.#trailers = { ...OK_TRAILERS, [REVISION_HEADER]: String(revision) };
  }

  /** Reports the age of those controls. Must be called after `reportRevision`. */
  reportStaleness(seconds: number): void {
    this.#trailers = { ...this.#trailers, [STALENESS_HEADER]: String(seconds) };
  }

  tellTargetIgnored(): void {
    this.#namesTarget = true;
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
    const status = this.itemFailed(error);
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
    const limit = WRITE_LIMIT_FACTOR * this.env.maxMessageBytes;
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
    this.#code = code;
    clearTimeout(this.#timer);
    this.letGo();
    this.hold(0);
    const { stream } = this;
    this.#orGiveUp(() => {
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
      this.env.log.error({ err: error, requestId: this.#requestId, rpc: this.method.name }, 'a reply failed');
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
    stream.respond(
      {
        ':status': 200,
        [VERSION_HEADER]: this.env.version,
        [REQUEST_ID_HEADER]: this.#requestId,
        'content-type': 'application/grpc+proto',
      },
      { waitForTrailers: true },
    );
  }

  #sendTrailers(): void {
    const { stream } = this;
    if (stream.destroyed || stream.closed) return;
    const trailers = this.#namesTarget ? { ...this.#trailers, ...TARGET_TRAILERS } : this.#trailers;
    this.#orGiveUp(() => stream.sendTrailers(trailers));
    if (stream.readableEnded || stream.endAfterHeaders) return;
    // After the trailers, see RFC 9113, section 8.1: the client may still send input that is not read.
    setImmediate(() => {
      if (!stream.readableEnded && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    });
  }

  #closed(): void {
    clearTimeout(this.#timer);
    this.#code ??= 'canceled';
    this.#cancel?.abort(callCanceled());
    this.#ticket.end();
    this.letGo();
    const { env, method } = this;
    env.running.delete(this);
    const ms = performance.now() - this.#startedAt;
    env.metrics.rpcEnded(method.name, this.protocol, this.#code, ms / 1000);
    if (env.logsCalls) {
      const facts = { reqId: this.#requestId, method: 'POST', path: method.path, status: 200 };
      env.log.debug({ ...facts, ms: Math.round(ms * 1000) / 1000 }, 'request');
    }
  }
}

function callCanceled(): ConnectError {
  return new ConnectError('the call was canceled', Code.Canceled);
}

/** Timeout set by the caller, in milliseconds; infinite beyond the range of timers. */
function timeoutMs(timeout: string): number {
  const { timeoutMs: ms = 0, error } = parseTimeout(timeout, Number.POSITIVE_INFINITY);
  if (error !== undefined) throw error;
  return ms > LONGEST_TIMER_MS ? Number.POSITIVE_INFINITY : ms;
}
