import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { CallContext, Principal } from '../../contract/call/handler.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { Admission } from '../admission/admission.js';
import type { CallTicket } from '../admission/call-ticket.js';
import type { Entrance } from '../admission/entrance.js';
import type { CallMeter } from '../call/call-meter.js';
import { type CallTime, createCallTime } from '../call/call-time.js';
import {
  REQUEST_ID_HEADER,
  REVISION_HEADER,
  requestIdOf,
  STALENESS_HEADER,
  VERSION_HEADER,
  WARNING_HEADER,
  warningHeader,
} from '../wire/reply-headers.js';
import { ClientGoneError, type ErrorContext, errorAnswer } from './rest-errors.js';
import type { RestReply, RestRequest, RestRoute } from './rest-route.js';
import { CLIENT_GONE_STATUS, JSON_TYPE } from './rest-routes.js';

const NONE = {};
const ANONYMOUS: Principal = { level: 'anonymous', keyFingerprint: null };

export interface RestLaneOptions extends ErrorContext {
  /** Routes of the lane: POST with a body, without path parameters. */
  readonly routes: readonly RestRoute[];
  readonly admission: Pick<Admission, 'ticket'>;
  readonly entrance: Pick<Entrance, 'enterWithKey'>;
  readonly metrics: Pick<CallMeter, 'restStarted' | 'restEnded'>;
  readonly log: FastifyBaseLogger;
  /** Whether request log lines are enabled. */
  readonly logsCalls: boolean;
  /** Sent with every reply. */
  readonly version: string;
  /** Headers of every reply to a request without an origin, as a flat list of names and values. */
  readonly corsHeaders: readonly string[];
  /** Time limit of an evaluation, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Largest body, in bytes. */
  readonly maxBodyBytes: number;
}

/** One request of the lane, from its headers to the end of its reply; also the input of its route. */
export class LaneRequest implements RestRequest, CallContext {
  readonly id: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly params = NONE;
  readonly query = NONE;
  body: Buffer | undefined;
  principal: Principal = ANONYMOUS;
  readonly #options: RestLaneOptions;
  readonly #route: RestRoute;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly ticket: CallTicket;
  readonly #startedAt = performance.now();
  readonly #chunks: Buffer[] = [];
  #revision: number | null = null;
  #staleness: number | null = null;
  #warnings: readonly Warning[] | null = null;
  #log: FastifyBaseLogger | undefined;
  #time: CallTime | undefined;
  #gone: AbortController | undefined;

  constructor(
    options: RestLaneOptions,
    route: RestRoute,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.#options = options;
    this.#route = route;
    this.#request = request;
    this.#response = response;
    this.url = request.url ?? '';
    this.headers = request.headers;
    this.id = requestIdOf(request.headers);
    this.ticket = options.admission.ticket(request.socket, request.headers['x-forwarded-for']);
    options.metrics.restStarted('POST', route.template);
    // Emitted once: when the reply is complete, or the client disconnects.
    response.on('close', () => this.#closed());
  }

  get requestId(): string {
    return this.id;
  }

  get log(): FastifyBaseLogger {
    this.#log ??= this.#options.log.child({ reqId: this.id });
    return this.#log;
  }

  get signal(): AbortSignal {
    return this.#callTime.signal;
  }

  header(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  reportRevision(revision: number): void {
    this.#revision = revision;
  }

  reportStaleness(seconds: number): void {
    this.#staleness = seconds;
  }

  warn(warnings: readonly Warning[]): void {
    this.#warnings = this.#warnings === null ? warnings : [...this.#warnings, ...warnings];
  }

  /** Reads the body and answers, if the call is allowed. */
  start(apiKey: string | undefined): void {
    try {
      this.principal = this.#options.entrance.enterWithKey(this.ticket, this.#route.method, apiKey);
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
      const result = this.#route.run(this, this);
      if (result instanceof Promise) this.#wait(result);
      else if (typeof result === 'string' || Buffer.isBuffer(result)) this.#succeed(result);
      else throw new Error(`${this.#route.method.name} answered with a stream`);
    } catch (error) {
      this.#fail(error);
    }
  }

  #wait(result: Promise<RestReply>): void {
    const time = this.#callTime;
    const bounded = time.bound(result) as Promise<RestReply>;
    bounded
      .then((text) => this.#succeed(text))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => time.end());
  }

  get #callTime(): CallTime {
    this.#time ??= createCallTime(this.#options.requestTimeoutMs, () => this.#clientSignal());
    return this.#time;
  }

  #clientSignal(): AbortSignal {
    this.#gone = new AbortController();
    if (this.#response.closed) this.#gone.abort(new ClientGoneError());
    return this.#gone.signal;
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
    const { version, corsHeaders } = this.#options;
    const body = typeof text === 'string' ? Buffer.from(text) : text;
    const lines = [VERSION_LINE, version, REQUEST_ID_HEADER, this.id, ...corsHeaders];
    const warnings = this.#warnings === null ? undefined : warningHeader(this.#warnings);
    if (warnings !== undefined) lines.push(WARNING_HEADER, warnings);
    if (this.#revision !== null) lines.push(REVISION_HEADER, String(this.#revision));
    if (this.#staleness !== null) lines.push(STALENESS_HEADER, String(this.#staleness));
    for (const line of headers) lines.push(line);
    lines.push('content-type', JSON_TYPE, 'content-length', String(body.length));
    response.writeHead(status, lines);
    response.end(body);
  }

  #closed(): void {
    const { metrics, logsCalls } = this.#options;
    const { template } = this.#route;
    this.ticket.end();
    this.#gone?.abort(new ClientGoneError());
    const status = this.#response.writableEnded ? this.#response.statusCode : CLIENT_GONE_STATUS;
    const ms = performance.now() - this.#startedAt;
    metrics.restEnded('POST', template, status, ms / 1000);
    if (logsCalls) {
      this.log.debug({ method: 'POST', path: template, status, ms: Math.round(ms * 1000) / 1000 }, 'request');
    }
  }
}

const NO_HEADERS: readonly string[] = [];
/** In lower case, as sent by Fastify. */
const VERSION_LINE = VERSION_HEADER.toLowerCase();
