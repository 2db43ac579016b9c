import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node';
import { type AuthInfo, createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { Authentication } from './auth.js';
import type { GatewayConfig } from './config.js';
import type { Log } from './errors.js';
import type { FrontServers } from './front-server.js';
import { createHttpSessions } from './http-sessions.js';
import { serveNode } from './node-adapter.js';
import type { ListKind } from './upstream-client.js';

/** The gateway on a port. */
export interface HttpFront {
  /** Address of the endpoint. */
  readonly url: string;
  /** How many sessions of earlier versions are open. */
  sessions(): number;
  /** Tells all clients that want to know it that a list has changed. */
  listChanged(kind: ListKind): void;
  close(): Promise<void>;
}

interface HttpOptions {
  readonly listen: GatewayConfig['listen'];
  readonly mapping: GatewayConfig['mapping'];
  readonly servers: FrontServers;
  readonly authentication: Authentication | undefined;
  readonly log: Log;
  /** Resolves when it is known what the servers can do; requests wait for it. */
  readonly ready: Promise<void>;
}

/** Time for the headers of a request, and for all of it. */
const REQUEST_MS = 60_000;

export async function startHttpFront({
  listen,
  mapping,
  servers,
  authentication,
  log,
  ready,
}: HttpOptions): Promise<HttpFront> {
  const sessions = createHttpSessions({ listen, mapping, servers });
  const onError = (error: Error): void => log('info', error.message);
  const modern = createMcpHandler(() => servers({ isModern: true, sessionId: undefined }), {
    legacy: 'reject',
    onerror: onError,
    maxRequestBodySize: listen.max_body_bytes,
  });

  async function serve(request: Request, parsedBody: unknown, ended: Promise<void>): Promise<Response> {
    let authInfo: AuthInfo | undefined;
    if (authentication !== undefined) {
      const checked = await authentication.check(request);
      if (checked instanceof Response) return checked;
      authInfo = checked;
    }
    await ready;
    const given = {
      ...(authInfo === undefined ? {} : { authInfo }),
      ...(parsedBody === undefined ? {} : { parsedBody }),
    };
    const isLegacy = request.method === 'POST' ? await isLegacyRequest(request, parsedBody) : true;
    return isLegacy ? sessions.serve(request, given, ended) : modern.fetch(request, given);
  }

  const hosts = hostHeaderValidation(listen.allowed_hosts);
  const origins = originValidation(listen.allowed_origins);
  const http = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    (request, response) => {
      if (!hosts(request, response) || !origins(request, response)) return;
      void route(request, response).catch((error) => {
        onError(error as Error);
        response.destroy();
      });
    },
  );

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [pathname = ''] = (request.url ?? '').split('?');
    if (pathname === listen.path) {
      const ended = new Promise<void>((resolve) => void response.once('close', resolve));
      return serveNode(request, response, listen.max_body_bytes, (asked, body) => serve(asked, body, ended));
    }
    const metadata = request.method === 'GET' ? authentication?.metadata(pathname) : undefined;
    if (metadata === undefined) {
      response
        .writeHead(404, { 'content-type': 'text/plain' })
        .end(`there is nothing here; MCP is at ${listen.path}\n`);
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
      .end(await metadata.text());
  }

  await listening(http, listen);
  const { address, port, family } = http.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${listen.path}`,
    sessions: () => sessions.size(),
    listChanged(kind) {
      if (kind === 'tools') modern.notify.toolsChanged();
      else if (kind === 'prompts') modern.notify.promptsChanged();
      else modern.notify.resourcesChanged();
      sessions.listChanged(kind);
    },
    async close() {
      sessions.stopSweeping();
      http.close();
      await modern.close();
      await sessions.endAll();
      http.closeAllConnections();
    },
  };
}

async function listening(http: HttpServer, { host, port }: GatewayConfig['listen']): Promise<void> {
  http.listen(port, host.replace(/^\[(.*)\]$/, '$1'));
  await once(http, 'listening');
}
