import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Most connections waiting for a worker; further ones are closed. As many as the kernel would queue. */
export const MAX_WAITING_CONNECTIONS = 511;
/**
 * Time limit for a connection to get a worker, in milliseconds: as long as a worker waits for its first byte.
 */
const WAIT_LIMIT_MS = 10_000;

/** A receiver of connections: a worker. */
export interface Receiver {
  /** Hands a connection over; `answered` must be called with the same id. */
  hand(id: number, socket: Socket): void;
}

interface Handed {
  readonly id: number;
  readonly socket: Socket;
}

/**
 * Owns the port and distributes connections round-robin, one at a time per worker: a busy worker gets none
 * until it has taken the last. HTTP/2 connections are long-lived, so letting workers accept from the kernel
 * would distribute them unevenly. The scheduler of node:cluster works the same way, but loses the connection
 * that a worker was about to take when it is killed: its client would wait forever. Here it is closed.
 */
export class Dispatcher {
  readonly #server: Server;
  readonly #waiting: Socket[] = [];
  /** Workers that can take a connection, longest waiting first. */
  readonly #free: Receiver[] = [];
  readonly #receivers = new Set<Receiver>();
  readonly #handed = new Map<Receiver, Handed>();
  #lastId = 0;

  constructor(onAcceptError: (error: Error) => void) {
    this.#server = createServer({ pauseOnConnect: true }, (socket) => this.#arrived(socket));
    this.#server.on('listening', () => this.#server.on('error', onAcceptError));
  }

  /** Starts to listen. Rejects if the port is not available. */
  listen(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  add(receiver: Receiver): void {
    this.#receivers.add(receiver);
    this.#free.push(receiver);
    this.#deal();
  }

  /** Stops handing connections to a receiver. One that is pending may still be answered. */
  retire(receiver: Receiver): void {
    this.#receivers.delete(receiver);
    const index = this.#free.indexOf(receiver);
    if (index >= 0) this.#free.splice(index, 1);
  }

  /** Removes a receiver that has ended. Data it may have read from its pending connection is lost. */
  remove(receiver: Receiver): void {
    this.retire(receiver);
    this.#handed.get(receiver)?.socket.destroy();
    this.#handed.delete(receiver);
  }

  /** A receiver has taken the connection, or has not touched it. */
  answered(receiver: Receiver, id: number, taken: boolean): void {
    const handed = this.#handed.get(receiver);
    if (handed?.id !== id) return;
    this.#handed.delete(receiver);
    if (taken) handed.socket.destroy();
    else this.#arrived(handed.socket);
    if (this.#receivers.has(receiver)) this.#free.push(receiver);
    this.#deal();
  }

  /** Closes the port and all waiting connections. */
  close(): void {
    this.#server.close();
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  #arrived(socket: Socket): void {
    if (!this.#server.listening || this.#waiting.length >= MAX_WAITING_CONNECTIONS) {
      socket.destroy();
      return;
    }
    if (socket.listenerCount('error') === 0) socket.on('error', () => {});
    this.#waiting.push(socket);
    this.#deal();
    if (this.#waiting.includes(socket)) this.#limitWait(socket);
  }

  #limitWait(socket: Socket): void {
    const timer = setTimeout(() => {
      const index = this.#waiting.indexOf(socket);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      socket.destroy();
    }, WAIT_LIMIT_MS);
    socket.once('close', () => clearTimeout(timer));
  }

  #deal(): void {
    while (this.#free.length > 0) {
      const socket = this.#waiting.shift();
      if (socket === undefined) return;
      const receiver = this.#free.shift();
      if (receiver === undefined) return;
      const id = ++this.#lastId;
      this.#handed.set(receiver, { id, socket });
      receiver.hand(id, socket);
    }
  }
}
