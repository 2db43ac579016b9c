import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { startRequestChecks, takeConnectionListener } from '../../contract/runtime/node-internals.js';
import type { ListenerLimits } from './limits.js';

/** TCP keep-alive probes detect peers that vanished silently. */
const TCP_KEEP_ALIVE_DELAY_MS = 60_000;

/** Actions of the listener that the front server delegates to. */
export interface FrontServerActions {
  accept(socket: Socket): void;
  drain(): Promise<void>;
  closeIdle(): void;
  destroyAll(): void;
}

/**
 * The server that owns the port. It is an HTTP/1 server that passes accepted connections to the listener,
 * which returns HTTP/1 connections through `serveHttp1`. Closing it drains every protocol.
 */
export class FrontServer extends Server {
  readonly #actions: FrontServerActions;
  readonly #http1: (socket: Socket) => void;
  #keepsIdle = false;

  constructor(
    limits: ListenerLimits,
    onRequest: (request: IncomingMessage, response: ServerResponse) => void,
    actions: FrontServerActions,
  ) {
    super(
      {
        maxHeaderSize: limits.maxHeaderBytes,
        headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
        requestTimeout: limits.requestTimeoutMs,
        connectionsCheckingInterval: limits.timeoutCheckIntervalMs,
        keepAliveTimeout: limits.keepAliveTimeoutMs,
        keepAlive: true,
        keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
        noDelay: true,
      },
      onRequest,
    );
    this.#actions = actions;
    this.maxConnections = limits.maxConnections;
    // Headers beyond this count are dropped silently; one above the limit shows that there were too many.
    this.maxHeadersCount = limits.maxHeaderCount + 1;
    this.timeout = limits.sendStallTimeoutMs;
    this.#http1 = takeConnectionListener(this);
    this.on('connection', (socket: Socket) => actions.accept(socket));
  }

  /** Serves HTTP/1 on a socket. */
  serveHttp1(socket: Socket): void {
    this.#http1(socket);
  }

  /** Prepares for connections that another process accepts. */
  expectHandedOver(): void {
    startRequestChecks(this);
  }

  /** Serves a connection accepted by another process like one accepted here. */
  takeHandedOver(socket: Socket): void {
    // The settings a server applies to sockets that it accepts.
    socket.allowHalfOpen = true;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_DELAY_MS);
    this.emit('connection', socket);
  }

  /** Stops accepting; resolves when every connection is closed. */
  stopAccepting(): Promise<void> {
    this.#keepsIdle = true;
    return new Promise((resolve) => super.close(() => resolve()));
  }

  /** Drains the listener, then calls back. */
  override close(callback?: (error?: Error) => void): this {
    void this.#actions.drain().then(() => callback?.());
    return this;
  }

  override closeIdleConnections(): void {
    // Node.js calls this when it stops to accept; the listener closes them when clients have had time to notice.
    if (!this.#keepsIdle) this.#actions.closeIdle();
  }

  override closeAllConnections(): void {
    this.#actions.destroyAll();
  }
}
