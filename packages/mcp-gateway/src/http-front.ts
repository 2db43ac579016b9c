import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHandlerRequestOptions,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Authentication } from './auth.js';
import { principalOf } from './caller.js';
import type { GatewayConfig } from './config.js';
import { ERROR_CODES, failure, type Log } from './errors.js';
import type { FrontServers } from './front-server.js';
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

/** A session of a client before version 2026-07-28. */
interface Session {
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** The principal that opened it, the only one that may use it. */
  readonly principal: string;
  /** Requests that are open, its stream of messages included. */
  open: number;
  usedAt: number;
}

/** Checks a quarter of the idle time, so that a session ends at most that much late. */
const IDLE_CHECKS = 4;
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
  const sessions = new Map<string, Session>();
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
    return isLegacy ? serveSession(request, given, ended) : modern.fetch(request, given);
  }

  async function serveSession(
    request: Request,
    options: McpHandlerRequestOptions,
    ended: Promise<void>,
  ): Promise<Response> {
    const principal = principalOf(mapping, request.headers, options.authInfo);
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      const { parsedBody: body } = options;
      if (!isInitializeRequest(body))
        return failure(400, -32_000, 'Bad Request: the header Mcp-Session-Id is missing');
      if (sessions.size >= listen.max_sessions)
        return failure(
          503,
          ERROR_CODES.busy,
          'the gateway has as many sessions as it may have; try again later',
        );
      return openSession(request, options, principal, ended);
    }
    const session = sessions.get(id);
    // A session of another principal is not found.
    if (session === undefined || session.principal !== principal)
      return failure(404, -32_001, 'Session not found');
    track(session, ended);
    return session.transport.handleRequest(request, options);
  }

  async function openSession(
    request: Request,
    options: McpHandlerRequestOptions,
    principal: string,
    ended: Promise<void>,
  ): Promise<Response> {
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: (closed) => void sessions.delete(closed),
      maxRequestBodySize: listen.max_body_bytes,
    });
    const server = servers({ isModern: false, sessionId: id });
    const session: Session = { server, transport, principal, open: 0, usedAt: performance.now() };
    // Counts at once, so that many at the same time are no more than there may be.
    sessions.set(id, session);
    try {
      await server.connect(transport);
      track(session, ended);
      const response = await transport.handleRequest(request, options);
      if (!response.ok) await end(id, session);
      return response;
    } catch (error) {
      await end(id, session);
      throw error;
    }
  }

  /** Counts a request of a session as open until its answer has ended. */
  function track(session: Session, ended: Promise<void>): void {
    session.open += 1;
    void ended.then(() => {
      session.open -= 1;
      session.usedAt = performance.now();
    });
  }

  async function end(id: string, { server }: Session): Promise<void> {
    sessions.delete(id);
    await server.close().catch(() => {});
  }

  const idleMs = listen.session_idle_seconds * 1_000;
  const sweep = setInterval(() => {
    const oldest = performance.now() - idleMs;
    for (const [id, session] of sessions)
      if (session.open === 0 && session.usedAt < oldest) void end(id, session);
  }, idleMs / IDLE_CHECKS);
  sweep.unref();

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
    sessions: () => sessions.size,
    listChanged(kind) {
      if (kind === 'tools') modern.notify.toolsChanged();
      else if (kind === 'prompts') modern.notify.promptsChanged();
      else modern.notify.resourcesChanged();
      for (const { server } of sessions.values())
        void server.notification({ method: `notifications/${kind}/list_changed` }).catch(() => {});
    },
    async close() {
      clearInterval(sweep);
      http.close();
      await modern.close();
      await Promise.all([...sessions].map(([id, session]) => end(id, session)));
      http.closeAllConnections();
    },
  };
}

async function listening(http: HttpServer, { host, port }: GatewayConfig['listen']): Promise<void> {
  http.listen(port, host.replace(/^\[(.*)\]$/, '$1'));
  await once(http, 'listening');
}
