import { Code, ConnectError } from '@connectrpc/connect';
import type { Principal } from '../../contract/call/handler.js';
import { isUnexpected } from '../wire/rpc-status.js';
import type { CallHost, CallRoute } from './call-host.js';

/** What lines of the log tell of a call. */
interface LoggedCall {
  readonly requestId: string;
  readonly route: CallRoute;
  readonly principal: Principal;
  traceFacts(error?: unknown): object | undefined;
}

/** Logs faults of the server and RPCs that cannot be served at present. Errors of callers are not logged. */
export function logFailure(
  { log, failures }: CallHost,
  call: LoggedCall,
  status: { readonly code: Code },
  error: unknown,
): void {
  const rpc = call.route.path.slice(1);
  if (isUnexpected(status))
    log.error({ err: error, requestId: call.requestId, rpc, ...call.traceFacts(error) }, 'an RPC failed');
  // Errors that already have a status were caused from outside, for example by shutdown.
  else if (status.code === Code.Unavailable && !(error instanceof ConnectError)) {
    failures.failed(`unavailable ${rpc}`, 'an RPC could not be served', error, {
      rpc,
      ...call.traceFacts(error),
    });
  }
}

export function logLeaving({ log }: CallHost, { requestId, route }: LoggedCall): void {
  log.debug({ requestId, rpc: route.path.slice(1) }, 'the client went away');
}

export function logEnd({ log }: CallHost, call: LoggedCall, status: number, ms: number): void {
  const { requestId: reqId, route, principal } = call;
  const key = principal.name === null ? {} : { key: principal.name };
  const facts = { reqId, method: route.verb, path: route.path, status, ...key, ...call.traceFacts() };
  log.debug({ ...facts, ms: Math.round(ms * 1000) / 1000 }, 'request');
}
