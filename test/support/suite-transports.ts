import type { Transport } from '@connectrpc/connect';
import { Http2SessionManager } from '@connectrpc/connect-node';
import { afterAll } from 'vitest';
import { type RpcProtocol, rpcTransport } from './rpc-transports.js';

/**
 * Transports that the calls of a suite share, for suites of many calls that are not about connections: to open one takes
 * several times as long as a call. They are closed after the suite.
 */
export function suiteTransports(): (protocol: RpcProtocol, baseUrl: string) => Transport {
  const transports = new Map<string, Transport>();
  const sessions: Http2SessionManager[] = [];
  afterAll(() => {
    for (const session of sessions.splice(0)) session.abort();
    transports.clear();
  });
  return (protocol, baseUrl) => {
    const name = `${protocol} ${baseUrl}`;
    const known = transports.get(name);
    if (known !== undefined) return known;
    const sessionManager = new Http2SessionManager(baseUrl);
    sessions.push(sessionManager);
    const made = rpcTransport(protocol, baseUrl, undefined, { sessionManager });
    transports.set(name, made);
    return made;
  };
}
