import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { closedStatus } from '../call/call-host.js';
import { abandonSoon } from '../http/request-bodies.js';
import type { Reply, ReplyFields } from '../wire/reply.js';
import type { Exchange } from './lane-environment.js';

/** An exchange over HTTP/2: a whole reply, or one that is sent in parts. */
export class Http2Exchange implements Exchange {
  readonly headers: IncomingHttpHeaders;
  readonly stream: ServerHttp2Stream;
  #status = 0;
  #trailers: () => ReplyFields = NO_TRAILERS;
  #failed: (error: unknown) => void = () => {};

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.stream = stream;
    this.headers = headers;
  }

  get connection(): object | undefined {
    return this.stream.session;
  }

  get isClosed(): boolean {
    return this.stream.closed || this.stream.destroyed;
  }

  read(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    this.stream.on('data', onChunk);
    this.stream.once('end', onEnd);
  }

  reply({ status, headers, body, trailers }: Reply): void {
    if (!this.isClosed) {
      if (body === undefined) this.#respond(status, headers, { endStream: true });
      else if (trailers === undefined && !this.#isUnread) this.#respond(status, headers, {});
      else this.open(status, headers, trailers === undefined ? NO_TRAILERS : () => trailers);
      if (body !== undefined) this.stream.end(body);
      else if (this.#isUnread) abandonSoon(this.stream);
    }
    this.#discard();
  }

  /** Sends the headers of a reply that has trailers. */
  open(status: number, headers: ReplyFields, trailers: () => ReplyFields): void {
    this.#trailers = trailers;
    this.stream.once('wantTrailers', () => this.#end());
    this.#respond(status, headers, { waitForTrailers: true });
  }

  /** Sends a part of a reply that is open. */
  write(part: Buffer): void {
    if (this.#isWritable) this.stream.write(part);
  }

  /** Sends the last part of a reply that is open, then its trailers. */
  end(last: Buffer | undefined): void {
    if (this.#isWritable) this.stream.end(last);
    this.#discard();
  }

  abort(): void {
    // Frames may be being read, see Http2Connection.
    setImmediate(() => this.stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  }

  onClose(closed: (status: number) => void, failed: (error: unknown) => void): void {
    const { stream } = this;
    this.#failed = failed;
    stream.once('close', () =>
      closed(closedStatus({ writableEnded: stream.writableEnded, statusCode: this.#status })),
    );
  }

  get #isWritable(): boolean {
    return !this.isClosed && this.stream.headersSent && !this.stream.writableEnded;
  }

  /** Whether the client may still be sending, what is not read. */
  get #isUnread(): boolean {
    return !this.stream.readableEnded && !this.stream.endAfterHeaders;
  }

  #respond(status: number, headers: OutgoingHttpHeaders, options: object): void {
    this.#status = status;
    headers[':status'] = status;
    this.stream.respond(headers, options);
  }

  #end(): void {
    if (this.isClosed) return;
    // An error of an event handler would end the process.
    try {
      this.stream.sendTrailers(this.#trailers());
    } catch (error) {
      this.#failed(error);
      return;
    }
    // RFC 9113, section 8.1.
    if (this.#isUnread) abandonSoon(this.stream);
  }

  /** Discards further input; left unread it would keep the stream open. */
  #discard(): void {
    if (this.stream.readableEnded) return;
    this.stream.removeAllListeners('data');
    this.stream.resume();
  }
}

const NO_TRAILERS = (): ReplyFields => ({});
