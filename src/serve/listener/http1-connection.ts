import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
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

/** One HTTP/1 connection and its running requests. */
export class Http1Connection implements Connection {
  readonly protocol = 'http1';
  readonly peer: Peer | undefined;
  readonly #socket: Socket;
  readonly #limits: ListenerLimits;
  readonly #onProblem: ProblemListener;
  readonly #pipelined: PipelinedRequests | undefined;
  /** In order of arrival, which is the order responses are sent in. */
  readonly #responses = new Set<ServerResponse>();
  #last: ServerResponse | null = null;
  #finishing = false;
  /** Whether the next response is the last one. */
  #isRetiring = false;
  /** Whether a request has begun on it. */
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

  /** Received requests that wait for their turn. */
  get #waiting(): number {
    return this.#pipelined?.waiting ?? 0;
  }

  /** Calls `serve` for a received request: now or when it is its turn, or never if the connection closes. */
  take(request: IncomingMessage, response: ServerResponse, serve: RequestServer): void {
    if (this.#pipelined?.mustWait(this.#responses.size > 0) === true) {
      this.#pipelined.wait(() => serve(this, request, response));
    } else {
      serve(this, request, response);
      this.#pipelined?.served();
    }
  }

  /**
   * Registers a request. Returns false if it must be left unanswered because the connection closes after an
   * earlier one; the client sees that it was not processed.
   */
  begin(response: ServerResponse): boolean {
    // The first request may have been sent before the connection was asked to finish.
    if ((this.#finishing || this.#isClosing) && this.#used) return false;
    if (this.#isRetiring) this.#finishing = true;
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

  /** Whether the last response announced the end of the connection. */
  get #isClosing(): boolean {
    const last = this.#last;
    return last?.writableEnded === true && !last.shouldKeepAlive;
  }

  /**
   * Node.js emits 'close' only on the response that has the socket; without this, those to pipelined requests
   * behind it would never release their resources.
   */
  #closeResponses(): void {
    for (const response of this.#responses) response.emit('close');
  }

  closeIfIdle(): void {
    if (this.#used && this.running === 0) this.#close();
  }

  finish(): void {
    if (this.#finishing) return;
    this.#finishing = true;
    const last = [...this.#responses].at(-1);
    if (last === undefined && this.#used) this.#close();
    // Its first request is probably on the way, because the protocol is already known.
    else if (last === undefined) this.#limitFirstRequest();
    // Sends `Connection: close` unless the headers were already sent.
    else last.shouldKeepAlive = false;
  }

  retire(): void {
    const last = [...this.#responses].at(-1);
    // A response whose headers were sent lets the client send another request, which must be answered.
    if (last === undefined || last.headersSent) this.#isRetiring = true;
    else this.finish();
  }

  /**
   * Ends sending and goes on to read: data that arrive at a socket that is closed reset the connection, and the client
   * could lose the end of its last response.
   */
  #close(): void {
    const timer = setTimeout(() => this.#socket.destroy(), this.#limits.lingerMs);
    this.#socket.once('close', () => clearTimeout(timer));
    this.#socket.end();
  }

  #limitFirstRequest(): void {
    // Decided once what has arrived meanwhile is read: the process may be late.
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (!this.#used) this.#socket.destroy();
      });
    }, this.#limits.lastRequestTimeoutMs);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** Handles inactivity: the connection is idle, or its peer does not read. */
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
   * Whether a client error may be answered: not if the answer would replace or interrupt the response to a
   * running request.
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
  response.writeHead(431, { 'content-type': MEDIA_TYPES.json, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Number of header lines of a request; above the limit the exact number is not known. */
export function headerCount(request: IncomingMessage): number {
  return request.rawHeaders.length / 2;
}
