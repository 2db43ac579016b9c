import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { Code, type ConnectError } from '@connectrpc/connect';
import type { AgentLimit } from '../../contract/call/agent-limit.js';
import { ANONYMOUS, type AnyHandler, type HandlerCall, type Principal } from '../../contract/call/handler.js';
import type { Namespace, TargetName } from '../../contract/call/namespace.js';
import { type ReceivedRequest, requestWarnings } from '../../contract/warnings/request-warnings.js';
import type { Warning } from '../../contract/warnings/warning.js';
import { callClassOf } from '../admission/call-class.js';
import type { CallTicket } from '../admission/call-ticket.js';
import type { Credentials } from '../auth/request-credentials.js';
import { toItemStatus, toRpcStatus } from '../wire/error-status.js';
import { REVISION_HEADER, STALENESS_HEADER, WARNING_HEADER, warningHeader } from '../wire/reply-headers.js';
import { codeWord, type RpcStatus } from '../wire/rpc-status.js';
import type { CallHost, CallRoute, RpcCaller } from './call-host.js';
import { logEnd, logFailure, logLeaving } from './call-log.js';
import { type CallTime, createCallTime } from './call-time.js';

/** One call as its adapter received it. */
export interface CallSource {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** The limited resources of the call; released by `Call.end`. */
  readonly ticket: CallTicket;
  /**
   * Aborted when the caller disconnects, its deadline passes, or the server ends the call; the reason is the
   * error of the call. Requested at most once, by code that waits: most evaluations need no signal.
   */
  callerSignal(): AbortSignal;
}

/**
 * One call, from its headers to the end of its reply, the same for every protocol: admission, access, place in
 * the queue, time limit, cancellation, counted bytes, what the reply says besides its message, metrics, log
 * and end. Adapters translate between their socket and a call.
 */
export class Call implements HandlerCall, RpcCaller {
  readonly route: CallRoute;
  readonly requestId: string;
  readonly ticket: CallTicket;
  /** Milliseconds of `performance.now`. */
  readonly startedAt = performance.now();
  principal: Principal = ANONYMOUS;
  /** Status of an RPC, as a gRPC status name in lower case or `ok`; null while it runs, and for REST. */
  code: string | null = null;
  readonly #host: CallHost;
  readonly #source: CallSource;
  #callerSignal: AbortSignal | undefined;
  #time: CallTime | undefined;
  #revision: number | null = null;
  #staleness: number | null = null;
  #warnings: readonly Warning[] | null = null;
  #headers: (readonly [name: string, value: string])[] | null = null;
  #ignored: (() => readonly Warning[]) | undefined;
  #ignoredParts: readonly Warning[] | undefined;
  #isOver = false;
  #onEnd: (() => void) | undefined;
  #forgetWithdrawal: (() => void) | undefined;

  constructor(host: CallHost, route: CallRoute, source: CallSource) {
    this.#host = host;
    this.#source = source;
    this.route = route;
    this.requestId = source.requestId;
    this.ticket = source.ticket;
    route.started();
  }

  get protocol(): string {
    return this.route.protocol;
  }

  get agents(): AgentLimit | null {
    return this.principal.agents;
  }

  get namespace(): Namespace {
    return this.principal.namespace;
  }

  get target(): TargetName | null {
    return this.principal.target;
  }

  askTarget(target: TargetName): Promise<void> | undefined {
    return this.principal.grant?.askTarget?.(target);
  }

  get address(): string | null {
    return this.ticket.address === '' ? null : this.ticket.address;
  }

  get isLenient(): boolean {
    return this.route.protocol === 'rest';
  }

  header(name: string): string | undefined {
    const value = this.#source.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /**
   * Admits the call, checks the access of its caller and applies the policies. Must be called before its body
   * is read. A promise only for a session or a bearer token that was not seen before. Fails with the error of the call.
   */
  enter(credentials: Credentials): Promise<void> | undefined {
    const { method } = this.route;
    // Calls that need no key have passed the front gate.
    if (callClassOf(method) === 'public') {
      this.#applyPolicies();
      return undefined;
    }
    const principal = this.#host.entrance.enter(this.ticket, method, credentials);
    if (principal instanceof Promise) return principal.then((found) => this.#admitted(found));
    this.#admitted(principal);
    return undefined;
  }

  /** The same for a caller that has no session, only a key or nothing. */
  enterWithKey(apiKey: string | undefined): void {
    this.#admitted(this.#host.entrance.enterWithKey(this.ticket, this.route.method, apiKey));
  }

  /**
   * Resolves when the call, or the next message of a stream, may be processed; undefined for now. Evaluations
   * do not wait. Fails with SERVICE_UNAVAILABLE when too many calls wait. `caller` is aborted when the caller
   * disconnects; by default the signal of the source. `isBulk`: see `Handler.isBulk`.
   */
  turn(caller?: AbortSignal, isBulk = false): Promise<void> | undefined {
    if (callClassOf(this.route.method) !== 'keyed') return undefined;
    const isGone = () => (caller ?? this.#caller).aborted;
    const { isEndless } = this.route;
    return this.#host.admission.keyedTurn(this.ticket, !isEndless, isGone, isBulk || isEndless);
  }

  /** Counts bytes of the reply against the turns of its caller. Evaluations do not count. */
  sends(bytes: number): void {
    if (callClassOf(this.route.method) === 'keyed') this.ticket.charges(bytes);
  }

  /** Aborted when the caller disconnects or the time of the call is up. Reading it starts the time limit. */
  get signal(): AbortSignal {
    return this.route.isEndless ? this.#caller : this.#limit.signal;
  }

  /** Waits for a promise, but not beyond the time limit; returns any other value as it is. */
  bound<T>(work: Promise<T> | T): Promise<T> | T {
    return work instanceof Promise ? this.#limit.bound(work) : work;
  }

  /**
   * Ends the time limit. Must be called when the work of the call is done; not by `end`, because work that goes
   * on when the caller disconnects has to see the signal.
   */
  worked(): void {
    this.#time?.end();
    this.ticket.answered();
  }

  spend(evaluations: number): void {
    this.ticket.spend(evaluations);
  }

  reportRevision(revision: number): void {
    this.#revision = revision;
  }

  reportStaleness(seconds: number): void {
    this.#staleness = seconds;
  }

  warn(warnings: readonly Warning[]): void {
    if (warnings.length > 0)
      this.#warnings = this.#warnings === null ? warnings : [...this.#warnings, ...warnings];
  }

  /** Adds a header that a JSON reply has instead of a member; over RPCs the member itself is sent. */
  tellInHeader(name: string, value: string): void {
    this.#headers ??= [];
    this.#headers.push([name, value]);
  }

  /** Sets the request as it arrived, which is searched for parts without effect if anything asks for them. */
  receives(request: () => ReceivedRequest): void {
    this.#ignored = () => requestWarnings(request());
  }

  ignores(parts: readonly Warning[]): void {
    this.#ignored = () => parts;
  }

  ignoredParts(): readonly Warning[] {
    this.#ignoredParts ??= this.#ignored?.() ?? [];
    return this.#ignoredParts;
  }

  /** Must be called when the reply of a handler is ready: warns about parts without effect, unless it did. */
  answeredBy(handler: AnyHandler): void {
    const isBulk = 'isBulk' in handler && handler.isBulk === true;
    if (this.#ignoredParts === undefined && !isBulk) this.warn(this.ignoredParts());
  }

  /** The trace of a log line about this call; empty if it has none, or if nothing is traced. */
  traceFacts(error?: unknown): object | undefined {
    return this.#host.traceFacts?.(this.#source.headers, error);
  }

  /** Calls `add` for each header or trailer with what was reported. */
  notes(add: (name: string, value: string) => void): void {
    const warnings = this.#warnings === null ? undefined : warningHeader(this.#warnings);
    if (warnings !== undefined) add(WARNING_HEADER, warnings);
    if (this.#revision !== null) add(REVISION_HEADER, String(this.#revision));
    if (this.#staleness !== null) add(STALENESS_HEADER, String(this.#staleness));
    for (const [name, value] of this.#headers ?? []) add(name, value);
  }

  itemFailed(error: unknown): RpcStatus {
    const status = toItemStatus(error);
    logFailure(this.#host, this, status, error);
    return status;
  }

  /** The status of the whole call, if it is an RPC; logged like that of an item. */
  statusOf(error: unknown): RpcStatus {
    const status = toRpcStatus(error);
    logFailure(this.#host, this, status, error);
    return status;
  }

  /** Sets the status of an RPC that failed with `error`, and logs the error like that of an item. */
  failed(status: { readonly code: Code }, error: unknown): void {
    if (this.#isLeaving(error)) {
      this.code = codeWord(Code.Canceled);
      logLeaving(this.#host, this);
      return;
    }
    this.code = codeWord(status.code);
    logFailure(this.#host, this, status, error);
  }

  /** Whether `error` only says that the caller disconnected: over HTTP/1.1 it has no status. */
  #isLeaving(error: unknown): boolean {
    return error instanceof Error && error.name === 'AbortError' && this.#caller.aborted;
  }

  /**
   * Calls `end` with the error of the call if the key of its caller is withdrawn, expires or gets other rights before
   * it is over. For one function of a call that has entered, and that can last: others just finish.
   */
  whenWithdrawn(end: (reason: ConnectError) => void): void {
    if (this.#isOver) return;
    this.#forgetWithdrawal = this.#host.withdrawals.watch(this.principal, end);
  }

  /** Calls `ended` once when the call is over; for one function. */
  whenEnded(ended: () => void): void {
    if (this.#isOver) ended();
    else this.#onEnd = ended;
  }

  /**
   * Releases, counts and logs the call. Must be called when its reply is complete or its caller disconnected;
   * later calls have no effect. `status` is that of HTTP.
   */
  end(status: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd?.();
    this.#forgetWithdrawal?.();
    this.ticket.end();
    const { policies, logsCalls } = this.#host;
    const ms = performance.now() - this.startedAt;
    this.route.ended(this.code, status, ms / 1000);
    for (const policy of policies) policy.ended?.(this);
    if (logsCalls) logEnd(this.#host, this, status, ms);
  }

  get #caller(): AbortSignal {
    if (this.#callerSignal === undefined) {
      this.#callerSignal = this.#source.callerSignal();
      // All evaluations of a call wait by it.
      setMaxListeners(0, this.#callerSignal);
    }
    return this.#callerSignal;
  }

  get #limit(): CallTime {
    this.#time ??= createCallTime(this.#host.requestTimeoutMs, () => this.#caller);
    return this.#time;
  }

  #admitted(principal: Principal): void {
    this.principal = principal;
    this.#applyPolicies();
  }

  #applyPolicies(): void {
    for (const policy of this.#host.policies) policy.entered?.(this);
  }
}
