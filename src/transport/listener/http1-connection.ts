import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';
import type { ListenerLimits } from './limits.js';
import type { Connection } from './open-connections.js';
import type { PipelinedRequests } from './pipelined-requests.js';
import type { ProblemListener } from './problem.js';

/** Serves a request of a connection. */
export type RequestServer = (
  connection: Http1Connection,
  request: IncomingMessage,
  response: ServerResponse,
) => void;

/** One HTTP/1 connection and the requests that run on it. */
export class Http1Connection implements Connection {
  readonly protocol = 'http1';
  readonly peer: Peer | undefined;
  readonly #socket: Socket;
  readonly #limits: ListenerLimits;
  readonly #onProblem: ProblemListener;
  readonly #pipelined: PipelinedRequests | undefined;
  /** In the order of arrival: responses are sent in that order. */
  readonly #responses = new Set<ServerResponse>();
  #last: ServerResponse | null = null;
  #finishing = false;
  /** A request has begun on it. */
  #used = false;

  constructor(
    socket: Socket,
    limits: ListenerLimits,
    onProblem: ProblemListener,
    peer?: Peer,
    pipelined?: PipelinedRequests,
  ) {
    this.peer = peer;
    this.#pipelined = pipelined;
    this.#socket = socket;
    this.#limits = limits;
    this.#onProblem = onProblem;
    socket.once('close', () => setImmediate(() => this.#closeResponses()));
  }

  get running(): number {
    return this.#socket.destroyed ? 0 : this.#responses.size + this.#waiting;
  }

  /** Requests that have arrived and wait for their turn. */
  get #waiting(): number {
    return this.#pipelined?.waiting ?? 0;
  }

  /** Calls `serve` for a request that has arrived: now, or when it is its turn; never, if the connection closes. */
  take(request: IncomingMessage, response: ServerResponse, serve: RequestServer): void {
    if (this.#pipelined?.mustWait(this.#responses.size > 0) === true) {
      this.#pipelined.wait(() => serve(this, request, response));
    } else {
      serve(this, request, response);
    }
  }

  /**
   * Notes a request. False when it must be left unanswered because the connection closes after an earlier one; the
   * client sees that it was not processed.
   */
  begin(response: ServerResponse): boolean {
    // The first request was on its way when the end was ordered: its client could not know.
    if ((this.#finishing || this.#isClosing) && this.#used) return false;
    if (this.#finishing) response.shouldKeepAlive = false;
    this.#used = true;
    this.#last = response;
    this.#responses.add(response);
    response.on('close', () => {
      this.#responses.delete(response);
      if (this.#finishing && this.#responses.size === 0) this.#socket.destroySoon();
    });
    return true;
  }

  /** Whether the last answer said that it is the last one. */
  get #isClosing(): boolean {
    const last = this.#last;
    return last?.writableEnded === true && !last.shouldKeepAlive;
  }

  /**
   * Node.js tells only the response that has the socket that it is closed; those to pipelined requests behind it would
   * never hear of it, and what they hold would never be given back.
   */
  #closeResponses(): void {
    for (const response of this.#responses) response.emit('close');
  }

  closeIfIdle(): void {
    if (this.#used && this.#responses.size === 0) this.#socket.destroy();
  }

  finish(): void {
    if (this.#finishing) return;
    this.#finishing = true;
    const last = [...this.#responses].at(-1);
    if (last === undefined && this.#used) this.#socket.destroy();
    // Its first request is on its way, or its protocol would hardly be known.
    else if (last === undefined) this.#limitFirstRequest();
    // Says `Connection: close` unless the headers have already gone.
    else last.shouldKeepAlive = false;
  }

  #limitFirstRequest(): void {
    const timer = setTimeout(() => {
      if (!this.#used) this.#socket.destroy();
    }, this.#limits.lastRequestTimeoutMs);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** Nothing was received or sent for a while: the connection is idle, or its peer does not read. */
  quiet(): void {
    if (this.#responses.size === 0) {
      this.#socket.destroy();
    } else if (this.#socket.writableLength > 0) {
      this.#onProblem({ kind: 'send-stalled', remoteAddress: this.#socket.remoteAddress });
      this.#socket.destroy();
    } else {
      this.#socket.setTimeout(this.#limits.sendStallTimeoutMs);
    }
  }

  /**
   * Whether an error of the client may be answered: not when the answer would stand in the place or in the midst of
   * the response to a request that is already running.
   */
  mayAnswerError(): boolean {
    const [first, ...others] = this.#responses;
    if (this.#waiting > 0) return false;
    if (first === undefined) return true;
    return others.length === 0 && !first.headersSent && !first.req.complete;
  }
}

/** Answers a request that has more header lines than allowed, and closes its connection. */
export function refuseTooManyHeaders(response: ServerResponse): void {
  const body = JSON.stringify({
    error: 'Request Header Fields Too Large',
    message: 'Exceeded maximum allowed number of HTTP headers',
    statusCode: 431,
  });
  response.shouldKeepAlive = false;
  response.writeHead(431, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Number of header lines of a request; more than the limit means too many, not how many. */
export function headerCount(request: IncomingMessage): number {
  return request.rawHeaders.length / 2;
}
