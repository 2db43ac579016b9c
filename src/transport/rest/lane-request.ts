import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { CallTicket } from '../admission/call-ticket.js';
import { Call, type CallSource } from '../call/call.js';
import { type CallHost, type CallRoute, closedStatus } from '../call/call-host.js';
import { REQUEST_ID_HEADER, requestIdOf, VERSION_HEADER } from '../wire/reply-headers.js';
import { ClientGoneError, type ErrorContext, errorAnswer } from './rest-errors.js';
import type { RestReply, RestRequest, RestRoute } from './rest-route.js';
import { JSON_TYPE } from './rest-routes.js';

const NONE = {};

export interface RestLaneOptions extends ErrorContext {
  /** Routes of the lane: POST with a body, without path parameters. */
  readonly routes: readonly RestRoute[];
  readonly host: CallHost;
  readonly log: FastifyBaseLogger;
  /** Sent with every reply. */
  readonly version: string;
  /** Headers of every reply to a request without an origin, as a flat list of names and values. */
  readonly fixedHeaders: readonly string[];
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
}

/** A route of the lane. */
export interface LaneRoute {
  readonly route: RestRoute;
  readonly callRoute: CallRoute;
}

/** One request of the lane, from its headers to the end of its reply; also the input of its route. */
export class LaneRequest implements RestRequest, CallSource {
  readonly requestId: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly params = NONE;
  readonly query = NONE;
  readonly ticket: CallTicket;
  body: Buffer | undefined;
  readonly #options: RestLaneOptions;
  readonly #route: RestRoute;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #chunks: Buffer[] = [];
  readonly #call: Call;
  #log: FastifyBaseLogger | undefined;
  #gone: AbortController | undefined;

  constructor(
    options: RestLaneOptions,
    { route, callRoute }: LaneRoute,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#options = options;
    this.#route = route;
    this.#request = request;
    this.#response = response;
    this.url = request.url ?? '';
    this.headers = request.headers;
    this.requestId = requestIdOf(request.headers);
    this.ticket = options.host.admission.ticket(request.socket, request.headers['x-forwarded-for']);
    this.#call = new Call(options.host, callRoute, this);
    // Emitted once: when the reply is complete, or the client disconnects.
    response.on('close', () => this.#closed());
  }

  get id(): string {
    return this.requestId;
  }

  get log(): FastifyBaseLogger {
    this.#log ??= this.#options.log.child({ reqId: this.requestId });
    return this.#log;
  }

  callerSignal(): AbortSignal {
    this.#gone = new AbortController();
    if (this.#response.closed) this.#gone.abort(new ClientGoneError());
    return this.#gone.signal;
  }

  /** Reads the body and answers, if the call may enter. */
  start(apiKey: string | undefined): void {
    try {
      this.#call.enterWithKey(apiKey);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#request.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    this.#request.on('end', () => this.#run());
  }

  #run(): void {
    const [first, ...others] = this.#chunks;
    this.body = others.length === 0 ? first : Buffer.concat(this.#chunks);
    try {
      const result = this.#route.run(this, this.#call);
      if (result instanceof Promise) this.#wait(result);
      else if (typeof result === 'string' || Buffer.isBuffer(result)) this.#succeed(result);
      else throw new Error(`${this.#route.method.name} answered with a stream`);
    } catch (error) {
      this.#fail(error);
    }
  }

  #wait(result: Promise<RestReply>): void {
    const bounded = this.#call.bound(result) as Promise<RestReply>;
    bounded
      .then((text) => this.#succeed(text))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#call.worked());
  }

  #succeed(text: RestReply): void {
    this.#send(this.#route.method.successStatus, NO_HEADERS, text);
  }

  #fail(error: unknown): void {
    const { status, headers, body } = errorAnswer(error, this, this.#options);
    this.#send(status, headers, body);
  }

  #send(status: number, headers: readonly string[], text: RestReply): void {
    const response = this.#response;
    // The client has disconnected.
    if (response.closed || response.destroyed) return;
    const { version, fixedHeaders } = this.#options;
    const body = typeof text === 'string' ? Buffer.from(text) : text;
    const lines = [VERSION_LINE, version, REQUEST_ID_HEADER, this.requestId, ...fixedHeaders];
    this.#call.notes((name, value) => lines.push(name, value));
    for (const line of headers) lines.push(line);
    lines.push('content-type', JSON_TYPE, 'content-length', String(body.length));
    response.writeHead(status, lines);
    response.end(body);
  }

  #closed(): void {
    this.#call.end(closedStatus(this.#response));
    this.#gone?.abort(new ClientGoneError());
  }
}

const NO_HEADERS: readonly string[] = [];
/** In lower case, as sent by Fastify. */
const VERSION_LINE = VERSION_HEADER.toLowerCase();
