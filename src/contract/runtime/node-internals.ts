import type { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2Server,
  Http2ServerRequest,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { Socket } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';

/**
 * What the service uses of Node.js beyond its documentation, because there is no documented way. It is all here.
 * `demandNodeInternals` checks at the start what can be checked there. Every use was seen on the release lines that
 * `npm run verify:node` runs the tests on: 20, 24 and 26.
 */
interface NodeInternal {
  /** What Node.js has to do. */
  readonly needs: string;
  /** What the service does with it. */
  readonly why: string;
  /** What would happen if it served all the same. */
  readonly without: string;
  /** Whether this Node.js does so. Opens no connection. */
  readonly isMet: () => boolean;
  /**
   * Whether only tests check it, on every release line. Such a check passes data from something else than a real socket,
   * and the engine prepares for both ever after: a start that made these checks would take a tenth more for each
   * evaluation.
   */
  readonly isForTests?: true;
}

export const NODE_INTERNALS: Readonly<Record<string, NodeInternal>> = {
  takeConnectionListener: {
    needs: 'an HTTP server accepts connections in the only listener of its event `connection`',
    why: 'one port serves HTTP/1.1, HTTP/2 and TLS: the listener looks at a connection before HTTP/1.1 has it',
    without: 'every connection would be read twice, or HTTP/1.1 would not be served',
    isMet: () => createServer().listenerCount('connection') === 1,
  },
  startRequestChecks: {
    needs: 'an HTTP server starts to look for slow requests on its event `listening`',
    why: 'workers of a cluster serve connections that the first process accepts, and never listen',
    without: 'slow requests would keep connections of workers forever',
    isMet: () => createServer().listenerCount('listening') > 0,
  },
  takeStreamListener: {
    needs: 'an HTTP/2 server makes requests in the only listener of its event `stream`',
    why: 'the lanes take streams before a request is made, which costs more than an evaluation',
    without: 'a stream would be answered twice, or not at all',
    isMet: () => createHttp2Server({}, () => {}).listenerCount('stream') === 1,
  },
  startSession: {
    needs: 'an HTTP/2 server emits `session` while it is given a connection',
    why: 'the limits of a session are those of the connection it was started on',
    without: 'every HTTP/2 connection would be closed',
    isForTests: true,
    isMet() {
      const socket = new Socket();
      const session = startSession(createHttp2Server(), socket);
      session?.destroy();
      socket.destroy();
      return session !== undefined;
    },
  },
  takeDataListener: {
    needs: 'HTTP/1.1 parses a socket in the only listener of its event `data`, to the end before it returns',
    why: 'thousands of requests sent ahead are parsed in parts, between which others have their turn',
    without: 'such a connection would hold up all others',
    isForTests: true,
    isMet: () => parsedBytes() === 1,
  },
  setReading: {
    needs: 'a TCP socket is read through `_handle`, with `readStop` and `readStart`',
    why: '`pause` of a socket does nothing once HTTP/2 or the parser of HTTP/1.1 has it',
    without: 'no caller could be made to wait for its turn',
    isForTests: true,
    isMet() {
      const socket = new Socket();
      // The handle is made before the name is looked up, which never ends.
      socket.connect({ host: 'localhost', port: 1, lookup: () => {} });
      const handle = handleOf(socket);
      socket.destroy();
      return typeof handle?.readStop === 'function' && typeof handle.readStart === 'function';
    },
  },
  interceptBody: {
    needs: 'requests of both versions of HTTP are given their body through their own `push`',
    why: 'bodies are counted as they arrive; a listener for `data` would start reading',
    without: 'bodies could fill the memory',
    isForTests: true,
    isMet: () => parsedBytes() === 1 && isPushedByHttp2(),
  },
};

/** Throws an Error that names what this Node.js lacks, as far as a start can check it. */
export function demandNodeInternals(internals = NODE_INTERNALS): void {
  for (const { needs, why, without, isMet, isForTests } of Object.values(internals)) {
    if (isForTests || isMet()) continue;
    throw new Error(
      `Node.js ${process.versions.node} cannot run the service, which relies on this: ${needs} (${why}). Without it ${without}.`,
    );
  }
}

/** Removes and returns the listener that accepts HTTP/1.1 connections, so that another runs before it. */
export function takeConnectionListener(server: Server): (socket: Socket) => void {
  return takeOnlyListener(server, 'connection');
}

/** Lets a server that does not listen look for slow requests. */
export function startRequestChecks(server: Server): void {
  server.emit('listening');
}

/** The listeners of streams; the types of Node.js omit the raw headers. */
export type StreamListener = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

/** Replaces the listener that makes requests of streams; `replacement` is given the one that was there. */
export function replaceStreamListener(
  server: Http2Server,
  replacement: (makeRequest: StreamListener) => StreamListener,
): void {
  const listener = replacement(takeOnlyListener(server, 'stream'));
  server.on('stream', listener as (...parameters: never) => void as never);
}

/** Starts a session on an open connection; undefined if it could not be started. */
export function startSession(server: Http2Server, socket: Socket): ServerHttp2Session | undefined {
  let started: ServerHttp2Session | undefined;
  const onSession = (session: ServerHttp2Session) => {
    started = session;
  };
  server.on('session', onSession);
  server.emit('connection', socket);
  server.off('session', onSession);
  return started;
}

/**
 * Removes and returns the listener that parses a socket of HTTP/1.1, which must not be parsing. Node.js bypasses the
 * events of the socket until there is another listener. Data must not be parsed while the socket is paused.
 */
export function takeDataListener(socket: Socket): (chunk: Buffer) => void {
  return takeOnlyListener(socket, 'data');
}

/** How Node.js reads a socket. */
interface ReadHandle {
  readStop?(): number;
  readStart?(): number;
}

/** Goes on or stops to read a socket, even one used by HTTP/2. */
export function setReading(socket: Socket, isReading: boolean): void {
  if (socket.destroyed) return;
  const handle = handleOf(socket);
  if (isReading) handle?.readStart?.();
  else handle?.readStop?.();
}

function handleOf(socket: Socket & { _handle?: ReadHandle | null }): ReadHandle | null | undefined {
  return socket._handle;
}

/** Passes on a part of a body; null is its end. */
type Push = (chunk: Uint8Array | null) => boolean;

/** Gives each part of a body to `take` instead of the request; `pass` gives it to the request. */
export function interceptBody(
  request: IncomingMessage | Http2ServerRequest,
  take: (chunk: Uint8Array | null, pass: Push) => boolean,
): void {
  const pass: Push = request.push.bind(request);
  request.push = (chunk: Uint8Array | null) => take(chunk, pass);
}

/** Removes and returns the one listener that Node.js itself has for an event. */
function takeOnlyListener<T extends unknown[]>(emitter: EventEmitter, event: string): (...values: T) => void {
  const [own, ...others] = emitter.listeners(event);
  if (own === undefined || others.length > 0) {
    throw new Error(`Node.js ${process.versions.node} does not have one listener for the event ${event}`);
  }
  emitter.removeAllListeners(event);
  return (...values) => own.apply(emitter, values);
}

/** How many bytes of a body HTTP/1.1 gives to its request before its listener for data returns. */
function parsedBytes(): number {
  let bytes = 0;
  const server = createServer((request) =>
    interceptBody(request, (chunk, pass) => {
      bytes += chunk?.length ?? 0;
      return pass(chunk);
    }),
  );
  const socket = new Socket();
  server.emit('connection', socket);
  if (socket.listenerCount('data') !== 1) return 0;
  takeDataListener(socket)(Buffer.from('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx'));
  socket.destroy();
  return bytes;
}

/** Whether HTTP/2 gives the data of a stream to its request in the same way. */
function isPushedByHttp2(): boolean {
  let isPushed = false;
  const stream = new PassThrough();
  const request = new Http2ServerRequest(stream as Duplex as ServerHttp2Stream, {}, {}, []);
  interceptBody(request, () => {
    isPushed = true;
    return true;
  });
  request.read();
  stream.emit('data', Buffer.from('x'));
  return isPushed;
}
