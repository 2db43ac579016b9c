import type { Socket } from 'node:net';
import type { Protocol } from './protocol-peek.js';

/** A connection whose protocol is known. */
export interface Connection {
  readonly protocol: Protocol;
  /** Number of running requests or streams. */
  readonly running: number;
  /** Closes it if no request is running. */
  closeIfIdle(): void;
  /**
   * Refuses new requests, and closes the connection now if it is idle, else after the last running request.
   * One without a request so far may wait a moment for its first.
   */
  finish(): void;
  /**
   * As `finish` where time remains: an idle connection may serve one more request, which may be on the way, and
   * which is told that the connection closes.
   */
  retire(): void;
}

/** Current numbers for metrics. */
export interface ListenerCounts {
  /** All open connections. */
  readonly connections: number;
  /** Connections that are still opening: TLS handshake, or protocol unknown. */
  readonly opening: number;
  readonly http1Connections: number;
  /** HTTP/1 requests without a complete response. */
  readonly http1Requests: number;
  readonly http2Sessions: number;
  readonly http2Streams: number;
}

/** Every open connection, by the socket it was accepted on. */
export class OpenConnections {
  readonly #connections = new Map<Socket, Connection | undefined>();
  readonly #onEmpty: (() => void)[] = [];

  get size(): number {
    return this.#connections.size;
  }

  /** Adds an accepted socket whose protocol is unknown; it is removed when it closes. */
  add(accepted: Socket): void {
    this.#connections.set(accepted, undefined);
    accepted.once('close', () => this.#remove(accepted));
  }

  /** Sets the connection once its protocol is known. */
  established(accepted: Socket, connection: Connection): void {
    if (this.#connections.has(accepted)) this.#connections.set(accepted, connection);
  }

  /** Resolves as soon as no connection is open. */
  whenEmpty(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  closeIdle(): void {
    for (const [accepted, connection] of this.#connections) {
      if (connection === undefined) accepted.destroy();
      else connection.closeIfIdle();
    }
  }

  finishAll(): void {
    for (const [accepted, connection] of this.#connections) {
      if (connection === undefined) accepted.destroy();
      else connection.finish();
    }
  }

  /** Retires all connections: those whose protocol is not known yet go on opening. */
  retireAll(): void {
    for (const connection of this.#connections.values()) connection?.retire();
  }

  destroyAll(): void {
    for (const accepted of this.#connections.keys()) accepted.destroy();
  }

  counts(): ListenerCounts {
    const count = { opening: 0, http1Connections: 0, http1Requests: 0, http2Sessions: 0, http2Streams: 0 };
    for (const connection of this.#connections.values()) {
      if (connection === undefined) count.opening += 1;
      else if (connection.protocol === 'http1') {
        count.http1Connections += 1;
        count.http1Requests += connection.running;
      } else {
        count.http2Sessions += 1;
        count.http2Streams += connection.running;
      }
    }
    return { connections: this.#connections.size, ...count };
  }

  #remove(accepted: Socket): void {
    this.#connections.delete(accepted);
    if (this.#connections.size > 0) return;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}
