import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { closedStatus } from '../call/call-host.js';
import type { Reply } from '../wire/reply.js';
import type { Exchange } from './lane-environment.js';

/** An exchange over HTTP/1.1. Node.js discards what is not read when the reply is complete. */
export class Http1Exchange implements Exchange {
  readonly headers: IncomingHttpHeaders;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.headers = request.headers;
    this.#request = request;
    this.#response = response;
  }

  get connection(): object {
    return this.#request.socket;
  }

  get isClosed(): boolean {
    return this.#response.closed || this.#response.destroyed;
  }

  read(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    this.#request.on('data', onChunk);
    this.#request.on('end', onEnd);
  }

  reply({ status, headers, body }: Reply): void {
    if (this.isClosed) return;
    this.#response.writeHead(status, headers);
    this.#response.end(body);
  }

  abort(): void {
    this.#request.socket.destroy();
  }

  onClose(closed: (status: number) => void): void {
    // Emitted once: when the reply is complete, or the client disconnects.
    this.#response.on('close', () => closed(closedStatus(this.#response)));
  }
}
