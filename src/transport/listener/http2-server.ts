import type { IncomingHttpHeaders } from 'node:http';
import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Admission } from '../admission/admission.js';
import type { FrontGate } from '../admission/front-gate.js';
import type { Peer } from '../admission/peer.js';
import { Http2Connection } from './http2-connection.js';
import type { ListenerLimits } from './limits.js';
import type { ProblemListener } from './problem.js';

/** Protocol errors and refused streams after which a session is destroyed. */
const MAX_INVALID_FRAMES = 100;
const MAX_REJECTED_STREAMS = 100;

/**
 * Receives every HTTP/2 stream before a request object is created: the stream, its headers by name, and as a
 * flat list of names and values. Returns true if it serves the stream, false if not. Must not throw.
 */
export type StreamTaker = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => boolean;

/** Serves HTTP/2 on sockets accepted elsewhere. */
export interface Http2Sockets {
  /**
   * Starts a session on an open socket; `opened` is called once the client has acknowledged the server's
   * settings. Returns undefined if no session could be started.
   */
  serve(socket: Socket, opened: () => void, peer: Peer | undefined): Http2Connection | undefined;
}

export interface Http2SocketOptions {
  readonly limits: ListenerLimits;
  /** Handles the requests of all sessions that `takeStream` does not serve. */
  readonly onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  readonly onProblem: ProblemListener;
  readonly admission: Admission | undefined;
  readonly gate: Pick<FrontGate, 'stream'> | undefined;
  readonly takeStream: StreamTaker | undefined;
}

/** Creates the HTTP/2 server. */
export function createHttp2Sockets(options: Http2SocketOptions): Http2Sockets {
  const { limits, onRequest, onProblem, admission, gate, takeStream } = options;
  // This server never listens: it is given open sockets.
  const server = createServer(
    {
      maxHeaderListPairs: limits.maxHeaderCount,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
      maxSessionMemory: limits.http2SessionMemoryMegabytes,
      settings: {
        maxConcurrentStreams: limits.http2MaxConcurrentStreams,
        maxHeaderListSize: limits.maxHeaderBytes,
        enablePush: false,
      },
    },
    onRequest,
  );
  putFirst(server, (stream, headers, rawHeaders, makeRequest) => {
    admission?.peerOf(stream.session)?.callStarted();
    if (takeStream?.(stream, headers, rawHeaders) === true) return;
    if (gate === undefined) makeRequest();
    else gate.stream(stream, headers, makeRequest);
  });
  let started: ServerHttp2Session | undefined;
  server.on('session', (session) => {
    started = session;
  });

  return {
    serve(socket, opened, peer) {
      // A session does not end when a half-open socket ends.
      socket.allowHalfOpen = false;
      const remoteAddress = socket.remoteAddress;
      server.emit('connection', socket);
      const session = started;
      started = undefined;
      if (session === undefined) return undefined;
      session.on('error', (error) => onProblem({ kind: 'http2-session', error, remoteAddress }));
      // Header size and stream count are enforced after the acknowledgement.
      session.once('localSettings', opened);
      if (peer !== undefined) admission?.recognize(session, peer);
      return new Http2Connection(session, socket, limits, onProblem, peer);
    },
  };
}

type StreamListener = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: string[],
) => void;

/** Receives every stream, and a function that creates a request from it. */
type FirstListener = (...parameters: [...Parameters<StreamTaker>, makeRequest: () => void]) => void;

/** The server creates requests in its own 'stream' listener; this runs `first` before it. */
function putFirst(server: Http2Server, first: FirstListener): void {
  const listeners = server.listeners('stream') as StreamListener[];
  const [makeRequest] = listeners;
  if (listeners.length !== 1 || makeRequest === undefined) {
    throw new Error('This version of Node.js makes HTTP/2 requests in a way the listener does not know');
  }
  server.removeAllListeners('stream');
  const onStream: StreamListener = (stream, headers, flags, rawHeaders) =>
    first(stream, headers, rawHeaders, () => makeRequest.call(server, stream, headers, flags, rawHeaders));
  // The Node.js types omit the raw headers, which are passed to every listener.
  server.on('stream', onStream as (...parameters: never) => void as never);
}
