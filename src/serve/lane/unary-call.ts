import type { IncomingHttpHeaders } from 'node:http';
import type { CallTicket } from '../admission/call-ticket.js';
import type { KeyHeaders } from '../auth/key-reader.js';
import { Call, type CallSource } from '../call/call.js';
import type { CallRoute } from '../call/call-host.js';
import { tooSlow } from '../call/deadline.js';
import type { Reply } from '../wire/reply.js';
import { requestIdOf } from '../wire/reply-headers.js';
import { type Exchange, giveUp, type LaneEnvironment } from './lane-environment.js';
import { OutsideEnd, type StoppableCall } from './outside-end.js';

/** What the protocol of a call decides: how its body becomes a request, and its result a reply. */
export interface UnaryWork {
  /** Takes a part of the body and returns the bytes that are held. Throws the error of the call. */
  push(chunk: Buffer): number;
  /** Answers when the body is complete. Throws, or rejects with, the error of the call. */
  answer(call: Call): Reply | Promise<Reply>;
  /** The reply of a call that failed. */
  failed(error: unknown, call: Call): Reply;
  /** Releases the body. */
  clear(): void;
}

/** One kind of calls with one message in each direction. */
export interface UnaryRoute {
  readonly callRoute: CallRoute;
  /** Whether a caller may state a deadline, and a request that does not arrive in time is answered. */
  readonly isRpc: boolean;
  /** Starts the work of one call. */
  work(exchange: Exchange, requestId: string): UnaryWork;
  /** The reason of the signal of a call whose caller has disconnected. */
  gone(): Error;
}

/**
 * A call with one message in each direction, in every protocol, from its headers to the end of its reply: entrance,
 * arrival, deadline, cancellation, answer, counted bytes and end. It runs after its body has ended. No event handler of
 * a call ever throws.
 */
export class UnaryCall implements CallSource, StoppableCall {
  readonly requestId: string;
  readonly ticket: CallTicket;
  readonly #env: LaneEnvironment;
  readonly #route: UnaryRoute;
  readonly #exchange: Exchange;
  readonly #call: Call;
  readonly #work: UnaryWork;
  /** Created for the calls that something can end from outside: most of REST end before. */
  #outside: OutsideEnd | undefined;
  #isOver = false;

  constructor(env: LaneEnvironment, route: UnaryRoute, exchange: Exchange) {
    this.#env = env;
    this.#route = route;
    this.#exchange = exchange;
    this.requestId = requestIdOf(exchange.headers);
    this.ticket = env.admission.ticket(exchange.connection, exchange.headers['x-forwarded-for']);
    this.#call = new Call(env, route.callRoute, this);
    this.#work = route.work(exchange, this.requestId);
    exchange.onClose(
      (status) => this.#closed(status),
      (error) => this.#giveUp(error),
    );
  }

  get headers(): IncomingHttpHeaders {
    return this.#exchange.headers;
  }

  callerSignal(): AbortSignal {
    return this.#ends().signal(this.#exchange.isClosed ? this.#route.gone() : undefined);
  }

  /** Starts the call if it is allowed. None of its body is read before. */
  start(apiKey: string | undefined): void {
    try {
      this.#call.enterWithKey(apiKey);
      if (this.#route.isRpc) this.#limitArrival();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#exchange.read(
      (chunk) => this.#push(chunk),
      () => this.#answer(),
    );
  }

  /** Ends the call from outside: on timeout, or when the server shuts down. */
  stop(reason: Error): void {
    this.#fail(reason);
    this.#outside?.abort(reason);
  }

  #ends(): OutsideEnd {
    // Requests of REST are given the time that the service has to end.
    this.#outside ??= new OutsideEnd(this, this.#route.isRpc ? this.#env.running : undefined);
    return this.#outside;
  }

  #limitArrival(): void {
    const { requestTimeoutMs } = this.#env;
    const ends = this.#ends();
    ends.readDeadline(this.#call, this.headers);
    ends.within(requestTimeoutMs, () => tooSlow(requestTimeoutMs));
  }

  #push(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      this.ticket.hold(this.#work.push(chunk));
    } catch (error) {
      this.#fail(error);
    }
  }

  #answer(): void {
    if (this.#isOver) return;
    try {
      this.#outside?.check();
      const reply = this.#work.answer(this.#call);
      if (reply instanceof Promise) this.#wait(reply);
      else this.#succeed(reply);
    } catch (error) {
      this.#fail(error);
    }
  }

  #wait(reply: Promise<Reply>): void {
    if (this.#route.isRpc) this.#ends().atDeadline();
    const bounded = this.#call.bound(reply) as Promise<Reply>;
    bounded
      .then((late) => this.#succeed(late))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#call.worked());
  }

  #succeed(reply: Reply): void {
    if (this.#isOver) return;
    if (this.#route.isRpc) this.#call.code = 'ok';
    this.#send(() => reply);
  }

  /** Ends the call with an error. The work sets the status of an RPC. */
  #fail(error: unknown): void {
    if (!this.#isOver) this.#send(() => this.#work.failed(error, this.#call));
  }

  #send(make: () => Reply): void {
    this.#isOver = true;
    this.#outside?.stopTimer();
    try {
      this.#exchange.reply(make());
    } catch (error) {
      this.#giveUp(error);
    }
    this.#work.clear();
    this.ticket.hold(0);
  }

  #giveUp(error: unknown): void {
    giveUp(error, this.#call, this.#exchange, this.#env);
  }

  #closed(status: number): void {
    if (this.#route.isRpc) this.#call.code ??= 'canceled';
    this.#isOver = true;
    this.#outside?.close(() => this.#route.gone());
    this.#call.end(status);
    this.#work.clear();
  }
}

/** Starts a call, unless its key has to be verified first, which is asynchronous. Returns whether it did. */
export function startUnary(
  env: LaneEnvironment,
  route: UnaryRoute,
  exchange: Exchange,
  request: KeyHeaders,
): boolean {
  const apiKey = env.keyReader.evaluationKeyOf(request);
  if (env.entrance.isUnverified(apiKey, route.callRoute.method)) return false;
  new UnaryCall(env, route, exchange).start(apiKey);
  return true;
}
