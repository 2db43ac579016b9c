import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import type { FastifyServerFactory } from 'fastify';
import type { Admission } from '../admission/admission.js';
import type { FrontGate } from '../admission/front-gate.js';
import { clientCertificateOf } from '../auth/client-certificate.js';
import { belowBase } from '../http/base-path.js';
import { type ConnectionAges, limitAge, limitOpening } from './connection-times.js';
import { Draining, type DrainOptions } from './draining.js';
import { FrontServer } from './front-server.js';
import { Http1Connection, headerCount, refuseTooManyHeaders } from './http1-connection.js';
import { createHttp2Sockets, type StreamTaker } from './http2-server.js';
import { DEFAULT_LISTENER_LIMITS, type ListenerLimits } from './limits.js';
import { type ListenerCounts, OpenConnections } from './open-connections.js';
import { isOneRequest, PipelinedRequests, type WaitingCount } from './pipelined-requests.js';
import type { ProblemListener } from './problem.js';
import { isResetStorm, type Opening, type Protocol, peekProtocol } from './protocol-peek.js';
import { createTlsGate, type TlsCredentials, type TlsGateOptions } from './tls-gate.js';
import { isHttp, refuseProtocol } from './wrong-protocol.js';

/** Interval at which connections are checked for being open, in milliseconds. */
const SETTLE_CHECK_MS = 10;

/** Options of a listener. */
export interface ListenerOptions {
  /** With credentials the port serves TLS only, without them plaintext only. */
  readonly tls?: (TlsCredentials & TlsGateOptions) | undefined;
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Called for every connection that is closed because of an error, for logs and metrics. */
  readonly onProblem?: ProblemListener | undefined;
  /** Decides which connections are accepted, and counts their calls. Without it all are accepted. */
  readonly admission?: Admission | undefined;
  /** Runs before Fastify. */
  readonly gate?: Pick<FrontGate, 'stream' | 'request'> | undefined;
  /** Receives HTTP/2 streams before Fastify. */
  readonly takeStream?: StreamTaker | undefined;
  /** What proxies may leave before the path of an HTTP/1 request; nothing by default. */
  readonly basePath?: string | null;
  /** Receives HTTP/1 requests before Fastify. */
  readonly takeRequest?: RequestTaker | undefined;
  /** The maximum age of connections; without it they have none. */
  readonly ages?: ConnectionAges | undefined;
}

/** Returns true if it serves the request, false if not. Must not throw. */
export type RequestTaker = (request: IncomingMessage, response: ServerResponse) => boolean;

/** One port for HTTP/1.1 and HTTP/2. */
export interface Listener {
  /** For `fastify({ serverFactory })`; serves one Fastify instance. */
  readonly serverFactory: FastifyServerFactory;
  /** Used instead of listening: prepares for connections that another process accepts, for `accept`. */
  expectConnections(): void;
  /** Serves a connection that another process accepted. */
  accept(socket: Socket): void;
  /**
   * Resolves when every connection is past its opening, or after `limitMs`, longer if the process is late. Draining closes those that are
   * not, although their clients were just accepted and could have been sent elsewhere.
   */
  settled(limitMs: number): Promise<void>;
  /** Uses other credentials for handshakes from now on. Throws an Error with the reason if they cannot be used. */
  renewTls(credentials: TlsCredentials): void;
  /** Aborted when draining starts, so that handlers of endless streams end them. */
  readonly draining: AbortSignal;
  /**
   * Stops accepting, lets running requests finish and tells clients that their connections close; after `noticeMs`
   * (default 0) closes idle connections and refuses new requests; after `graceMs` (default: the limit
   * `drainGraceMs`) destroys the rest. Resolves when every connection is closed. Calling it again can only shorten
   * the time. `close` of the Fastify instance does the same.
   */
  drain(options?: DrainOptions): Promise<void>;
  counts(): ListenerCounts;
}

type RequestHandler = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/**
 * Creates the network listener: plaintext (HTTP/1.1 and HTTP/2 with prior knowledge) or TLS (both by ALPN).
 * Throws an Error with the reason if the certificate or key cannot be used.
 */
export function createListener(options: ListenerOptions = {}): Listener {
  const limits: ListenerLimits = { ...DEFAULT_LISTENER_LIMITS, ...options.limits };
  const onProblem: ProblemListener = options.onProblem ?? (() => {});
  const tlsGate = options.tls && createTlsGate(options.tls, onProblem, options.tls);
  const connections = new OpenConnections();
  const draining = new Draining(connections, limits.drainGraceMs);
  let front: FrontServer | undefined;
  const drain = (wanted?: DrainOptions) => draining.begin(() => front?.stopAccepting(), wanted);
  const parts = { limits, onProblem, tlsGate, connections, draining, drain };

  return {
    serverFactory: (handler) => {
      if (front !== undefined) throw new Error('A listener serves one Fastify instance only');
      // Fastify types its handler for one kind of server, but handles requests of both.
      front = createFront(options, parts, handler as RequestHandler);
      return front;
    },
    expectConnections: () => front?.expectHandedOver(),
    accept(socket) {
      if (front !== undefined && connections.size < limits.maxConnections) {
        front.takeHandedOver(socket);
      } else {
        onProblem({ kind: 'refused', remoteAddress: socket.remoteAddress });
        socket.destroy();
      }
    },
    async settled(limitMs) {
      // Counted in turns of the event loop: on a busy machine the first bytes of a connection may have arrived unread.
      for (let left = limitMs / SETTLE_CHECK_MS; left > 0 && connections.counts().opening > 0; left -= 1) {
        await pause(SETTLE_CHECK_MS);
      }
    },
    renewTls(credentials) {
      if (tlsGate === undefined) throw new Error('the port does not serve TLS');
      tlsGate.renew(credentials);
    },
    draining: draining.signal,
    drain,
    counts: () => connections.counts(),
  };
}

/** What the server of a listener shares with it. */
interface FrontParts {
  readonly limits: ListenerLimits;
  readonly onProblem: ProblemListener;
  readonly tlsGate: ReturnType<typeof createTlsGate> | undefined;
  readonly connections: OpenConnections;
  readonly draining: Draining;
  readonly drain: () => Promise<void>;
}

/** The server of the port, for one Fastify instance. */
function createFront(
  options: ListenerOptions,
  { limits, onProblem, tlsGate, connections, draining, drain }: FrontParts,
  handle: RequestHandler,
): FrontServer {
  const http1 = new WeakMap<Socket, Http1Connection>();
  const waitingRequests: WaitingCount = { waiting: 0 };
  const { admission, gate, basePath = null } = options;
  const http2 = createHttp2Sockets({
    limits,
    onRequest: handle,
    onProblem,
    admission,
    gate,
    takeStream: options.takeStream,
  });

  const server = new FrontServer(limits, onHttp1Request, {
    accept,
    drain,
    closeIdle: () => connections.closeIdle(),
    destroyAll: () => connections.destroyAll(),
  });
  server.on('drop', (peer) => onProblem({ kind: 'refused', remoteAddress: peer?.remoteAddress }));
  server.on('listening', () => server.on('error', (error) => onProblem({ kind: 'accept', error })));
  server.on('timeout', (socket) => http1.get(socket)?.quiet());
  // The answer itself is sent by `answerClientError`, which ignores destroyed sockets.
  server.on('clientError', (_error, socket) => {
    const connection = http1.get(socket as Socket);
    if (connection === undefined || !connection.mayAnswerError()) socket.destroy();
  });

  function onHttp1Request(request: IncomingMessage, response: ServerResponse): void {
    http1.get(request.socket)?.take(request, response, serveHttp1Request);
  }

  function serveHttp1Request(
    connection: Http1Connection,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    connection.peer?.callStarted();
    if (basePath !== null) request.url = belowBase(request.url ?? '', basePath);
    if (!connection.begin(response)) return;
    if (headerCount(request) > limits.maxHeaderCount) refuseTooManyHeaders(response);
    else if (options.takeRequest?.(request, response) === true) return;
    else if (gate === undefined) handle(request, response);
    else gate.request(request, response, () => handle(request, response));
  }

  function accept(accepted: Socket): void {
    const remoteAddress = accepted.remoteAddress;
    accepted.on('error', (error) => onProblem({ kind: 'socket', error, remoteAddress }));
    const peer = admission?.connect(accepted);
    if (admission !== undefined && peer === undefined) {
      onProblem({ kind: 'refused', remoteAddress });
      accepted.destroy();
      return;
    }
    connections.add(accepted);
    const { opened, inTurn } = limitOpening(peer, limits.openingTimeoutMs, () => {
      onProblem({ kind: 'opening-timeout', remoteAddress });
      accepted.destroy();
    });
    accepted.once('close', opened);

    const establish = (socket: Socket, protocol: Protocol, received?: Buffer) => {
      if (socket.destroyed || draining.isClosing) {
        accepted.destroy();
      } else if (protocol === 'http2') {
        const connection = http2.serve(socket, opened, peer);
        if (connection === undefined) accepted.destroy();
        else {
          connections.established(accepted, connection);
          if (draining.signal.aborted) connection.retire();
          limitAge(accepted, connection, connection.session, options.ages);
        }
      } else {
        opened();
        const pipelined = peer && new PipelinedRequests(socket, peer, waitingRequests);
        const connection = new Http1Connection(socket, limits, onProblem, peer, pipelined);
        http1.set(socket, connection);
        connections.established(accepted, connection);
        if (draining.signal.aborted) connection.retire();
        limitAge(accepted, connection, socket, options.ages);
        server.serveHttp1(socket);
        if (received !== undefined && peer?.isUnknown === true && !isOneRequest(received)) pipelined?.slice();
        if (peer !== undefined) admission?.recognize(socket, peer);
      }
    };
    const secured = (socket: TLSSocket, protocol: Protocol): void => {
      if (peer !== undefined) peer.certificate = clientCertificateOf(socket);
      establish(socket, protocol);
    };
    const refuse = (spoken: Opening, received: Buffer): void => {
      opened();
      onProblem({ kind: 'wrong-protocol', remoteAddress });
      refuseProtocol(accepted, spoken, received, limits.lingerMs);
    };
    peekProtocol(accepted, (spoken, received) => {
      if (tlsGate) {
        if (spoken === 'tls' || !isHttp(received)) inTurn(() => tlsGate.handshake(accepted, secured));
        else refuse(spoken, received);
      } else if (spoken === 'tls') refuse(spoken, received);
      else if (spoken === 'http2' && peer !== undefined && isResetStorm(received)) peer.cutOff();
      else inTurn(() => establish(accepted, spoken, received));
    });
  }

  return server;
}
