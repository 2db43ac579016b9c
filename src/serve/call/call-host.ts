import type { IncomingHttpHeaders } from 'node:http';
import type { FactsLog, RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { LimitedCaller } from '../../decide/decisions/evaluation-caller.js';
import type { Admission } from '../admission/admission.js';
import type { ClassifiedMethod } from '../admission/call-class.js';
import type { Entrance } from '../admission/entrance.js';
import type { RpcStatus } from '../wire/rpc-status.js';
import type { Withdrawals } from './withdrawals.js';

/** A call as the evaluation sees it. */
export interface RpcCaller extends LimitedCaller {
  /** The status of one evaluation of many that failed; logs it like the error of a call. */
  itemFailed(error: unknown): RpcStatus;
  /** A promise for an evaluation that rejects as soon as the caller cancels it; absent if that ends the call. */
  awaited?<T>(work: Promise<T>): Promise<T>;
}

/** Counts and times the calls of each protocol. Every started call is ended exactly once. */
export interface CallMeter {
  /** `path` is the template of the route. */
  restStarted(method: string, path: string): void;
  restEnded(method: string, path: string, status: number, seconds: number): void;
  /** `rpc` is `package.Service/Method`. */
  rpcStarted(rpc: string, protocol: string): void;
  /** `code` is the gRPC status name in lower case, or `ok`. */
  rpcEnded(rpc: string, protocol: string, code: string, seconds: number): void;
}

/** A rule for the calls of every protocol, besides admission and access. */
export interface CallPolicy {
  /** Called once the caller is known, before the body is read. An error it throws becomes that of the call. */
  entered?(call: PolicyCall): void;
  /** Called when the call is over. Must not throw. */
  ended?(call: PolicyCall): void;
}

/** A call, as far as policies may use it. */
export interface PolicyCall {
  readonly route: CallRoute;
  readonly requestId: string;
  readonly protocol: string;
  header(name: string): string | undefined;
}

/**
 * Names the trace of a log line, as facts: that of the evaluation that failed with `error`, else that in the headers of
 * its call.
 */
export type TraceFacts = (headers: IncomingHttpHeaders, error?: unknown) => object;

/** What all calls share. */
export interface CallHost {
  readonly admission: Pick<Admission, 'ticket' | 'peerOf' | 'keyedTurn'>;
  readonly entrance: Pick<Entrance, 'enter' | 'enterWithKey' | 'isUnverified'>;
  readonly policies: readonly CallPolicy[];
  readonly withdrawals: Withdrawals;
  readonly metrics: CallMeter;
  readonly log: FactsLog;
  /** Whether request log lines are enabled. */
  readonly logsCalls: boolean;
  /** For calls that cannot be served at present: an outage causes many, all for the same reason. */
  readonly failures: RepeatLog;
  /** Absent when nothing is traced. */
  readonly traceFacts?: TraceFacts | undefined;
  /** Time limit of a call, in milliseconds: for its request to arrive, and then for its answer. */
  readonly requestTimeoutMs: number;
}

/** How calls of one route and protocol are classified, counted and logged. */
export interface CallRoute {
  readonly method: ClassifiedMethod;
  readonly protocol: string;
  /** HTTP method. */
  readonly verb: string;
  /** Template of the path. */
  readonly path: string;
  /** Whether the reply is a stream, which has no time limit but the caller's. */
  readonly isEndless: boolean;
  /** Counts a started call. */
  started(): void;
  /** Counts its end; `code` is null for REST and for RPCs without a status. */
  ended(code: string | null, status: number, seconds: number): void;
}

/** Status in the metrics of REST for requests whose clients disconnected before the reply; never sent. */
const CLIENT_GONE_STATUS = 499;

/** The HTTP status of a call whose response was closed. */
export function closedStatus(response: {
  readonly writableEnded: boolean;
  readonly statusCode: number;
}): number {
  return response.writableEnded ? response.statusCode : CLIENT_GONE_STATUS;
}

/** A JSON route. */
export function restRoute(
  metrics: Pick<CallMeter, 'restStarted' | 'restEnded'>,
  method: ClassifiedMethod,
  verb: string,
  path: string,
  isEndless = false,
): CallRoute {
  return {
    method,
    protocol: 'rest',
    verb,
    path,
    isEndless,
    started: () => metrics.restStarted(verb, path),
    ended: (_code, status, seconds) => metrics.restEnded(verb, path, status, seconds),
  };
}

/** An RPC, by its name `package.Service/Method`, in one protocol. */
export function rpcRoute(
  metrics: Pick<CallMeter, 'rpcStarted' | 'rpcEnded'>,
  method: ClassifiedMethod,
  name: string,
  protocol: string,
  isEndless = false,
): CallRoute {
  return {
    method,
    protocol,
    verb: 'POST',
    path: `/${name}`,
    isEndless,
    started: () => metrics.rpcStarted(name, protocol),
    ended: (code, status, seconds) =>
      metrics.rpcEnded(
        name,
        protocol,
        code ?? (status === CLIENT_GONE_STATUS ? 'canceled' : 'unknown'),
        seconds,
      ),
  };
}
