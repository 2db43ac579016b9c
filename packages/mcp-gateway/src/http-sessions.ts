import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type McpHandlerRequestOptions,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { principalOf } from './caller.js';
import type { GatewayConfig } from './config.js';
import { ERROR_CODES, failure } from './errors.js';
import type { FrontServers } from './front-server.js';
import type { ListKind } from './upstream-client.js';

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
interface HttpSessionsOptions {
  readonly listen: GatewayConfig['listen'];
  readonly mapping: GatewayConfig['mapping'];
  readonly servers: FrontServers;
}

/** The sessions of clients before version 2026-07-28; those without a request for some time are ended. */
export function createHttpSessions({ listen, mapping, servers }: HttpSessionsOptions) {
  const sessions = new Map<string, Session>();

  async function serve(
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

  return {
    serve,
    size: () => sessions.size,
    listChanged(kind: ListKind): void {
      for (const { server } of sessions.values())
        void server.notification({ method: `notifications/${kind}/list_changed` }).catch(() => {});
    },
    stopSweeping: () => clearInterval(sweep),
    async endAll(): Promise<void> {
      await Promise.all([...sessions].map(([id, session]) => end(id, session)));
    },
  };
}
