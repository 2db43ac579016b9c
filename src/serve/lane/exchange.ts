import type { IncomingHttpHeaders } from 'node:http';
import type { Reply } from '../wire/reply.js';

/** One request and its reply on their socket, in either version of HTTP. */
export interface Exchange {
  readonly headers: IncomingHttpHeaders;
  /** What it runs on: the socket, or the HTTP/2 session. */
  readonly connection: object | undefined;
  /** Whether no reply can be sent any more. */
  readonly isClosed: boolean;
  /** Starts reading the body. Must be called at most once. */
  read(onChunk: (chunk: Buffer) => void, onEnd: () => void): void;
  /** Sends the reply, unless the exchange is closed, and discards what is still to be read. */
  reply(reply: Reply): void;
  /** Ends the exchange without a reply. */
  abort(): void;
  /**
   * Calls `closed` once, when the reply is complete or the client disconnects. `status` is the status of HTTP of the
   * reply; 499 if there was none. Before that, `failed` is called if the end of the reply is refused by Node.js.
   */
  onClose(closed: (status: number) => void, failed: (error: unknown) => void): void;
}
