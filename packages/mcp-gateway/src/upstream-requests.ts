import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, ProgressCallback, Tool } from '@modelcontextprotocol/client';
import type { Result, StandardSchemaV1 } from '@modelcontextprotocol/server';
import { sessionAfter } from './lost-session.js';
import { paramHeaders } from './param-headers.js';
import { foldedInResult } from './protocol-names.js';
import type { createUpstreamErrors } from './upstream-client.js';

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** Given if the caller asks for progress. */
  readonly onProgress?: ProgressCallback | undefined;
  /** Is told what the upstream logs while it works on this request, if its connection tells which request it is about. */
  readonly onLog?: ((params: Record<string, unknown>) => void) | undefined;
  /** The definition of the tool that is called: some of its arguments may have to be repeated in headers. */
  readonly tool?: Tool | undefined;
}

/** Results are passed on as they are. */
const AS_IT_IS: StandardSchemaV1<unknown, Result> = {
  '~standard': {
    version: 1,
    vendor: 'control-enforcement',
    validate: (value) => ({ value: value as Result }),
  },
};
interface RequestLimits {
  readonly timeout: number;
  readonly maxTotalTimeout: number;
  readonly resetTimeoutOnProgress: boolean;
}

/** Sends requests on the connection of an upstream. */
export function createRequests(limits: RequestLimits, errors: ReturnType<typeof createUpstreamErrors>) {
  /** Told what arrives in the course of a request. Used by requests that want it only: it makes every promise slower. */
  const logs = new AsyncLocalStorage<UpstreamRequest['onLog']>();
  async function send(
    connected: Client,
    { method, params, signal, onProgress, onLog, tool }: UpstreamRequest,
  ): Promise<Result> {
    signal.throwIfAborted();
    const headers =
      tool !== undefined && connected.getProtocolEra() === 'modern'
        ? paramHeaders(tool, params.arguments)
        : undefined;
    const sent = (): Promise<Result> =>
      connected.request({ method, params }, AS_IT_IS, {
        ...limits,
        signal,
        allowInputRequired: true,
        ...(onProgress === undefined ? {} : { onprogress: onProgress }),
        ...(headers === undefined ? {} : { headers }),
      });
    const result = await (onLog === undefined ? sent() : logs.run(onLog, sent));
    const found = foldedInResult(result);
    if (found !== undefined) throw errors.inOtherCase(found);
    return result;
  }

  return {
    send,
    onLog: (params: Record<string, unknown>): void => logs.getStore()?.(params),
    /** Runs what outlives the request in whose course it begins. */
    outside: <T>(work: () => T): T => logs.exit(work),
  };
}

/** Whether a request was refused because the server does not know the session, before it ran. */
export async function isSessionLost(old: Client, error: unknown, answerMs: number): Promise<boolean> {
  const after = old.transport?.sessionId === undefined ? undefined : sessionAfter(error);
  if (after !== 'suspected') return after === 'lost';
  // A tool may say so of another session: then this one is known.
  return old.request({ method: 'ping' }, AS_IT_IS, { timeout: answerMs }).then(
    () => false,
    (refused) => sessionAfter(refused) !== undefined,
  );
}
