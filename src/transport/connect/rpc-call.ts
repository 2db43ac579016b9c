import { type Code, createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { CallContext, Principal } from '../../contract/call/handler.js';
import type { Warning } from '../../contract/warnings/warning.js';
import type { CallTicket } from '../admission/call-ticket.js';
import type { Credentials } from '../auth/request-credentials.js';
import type { JsonCopy } from '../wire/json-copy.js';
import { REVISION_HEADER, STALENESS_HEADER, WARNING_HEADER, warningHeader } from '../wire/reply-headers.js';

/** State of a running RPC; created from the HTTP request, kept in the context values of Connect. */
export interface RpcCall {
  readonly requestId: string;
  readonly credentials: Credentials;
  principal: Principal;
  /** The limited resources of the call; released when the request is over. */
  readonly ticket: CallTicket;
  /** The request as received, if it is JSON; null for other encodings and for streams of messages. */
  readonly json: JsonCopy | null;
  /** Final status of the call; null while it runs. Read for the metrics. */
  code: Code | 'ok' | null;
}

/** Key of the RpcCall in the context values. */
export const rpcCallKey = createContextKey<RpcCall | null>(null, {
  description: 'the call as the host sees it',
});

/** The RpcCall of a running handler. */
export function rpcCallOf(context: HandlerContext): RpcCall {
  const call = context.values.get(rpcCallKey);
  if (call === null) throw new Error('an RPC ran outside the host');
  return call;
}

/** Reads the metadata of a running handler. */
export function headerReader(context: HandlerContext): CallContext['header'] {
  return (name) => context.requestHeader.get(name) ?? undefined;
}

/** The protocol-neutral context of an RPC, with its ticket. */
export interface RpcContext extends CallContext {
  readonly ticket: CallTicket;
}

/** The context of a running handler; `signal` is called only if the handler uses it. */
export function callContextOf(context: HandlerContext, signal: () => AbortSignal): RpcContext {
  const call = rpcCallOf(context);
  const told: Warning[] = [];
  return {
    principal: call.principal,
    requestId: call.requestId,
    ticket: call.ticket,
    get signal() {
      return signal();
    },
    header: headerReader(context),
    reportRevision: (revision) => context.responseTrailer.set(REVISION_HEADER, String(revision)),
    reportStaleness: (seconds) => context.responseTrailer.set(STALENESS_HEADER, String(seconds)),
    warn(warnings) {
      told.push(...warnings);
      const text = warningHeader(told);
      if (text !== undefined) context.responseTrailer.set(WARNING_HEADER, text);
    },
  };
}
