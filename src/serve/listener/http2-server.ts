import type { IncomingHttpHeaders } from 'node:http';
import {
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { replaceStreamListener, startSession } from '../../contract/runtime/node-internals.js';
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
  replaceStreamListener(server, (makeRequest) => (stream, headers, flags, rawHeaders) => {
    admission?.peerOf(stream.session)?.callStarted();
    if (takeStream?.(stream, headers, rawHeaders) === true) return;
    if (gate === undefined) makeRequest(stream, headers, flags, rawHeaders);
    else gate.stream(stream, headers, () => makeRequest(stream, headers, flags, rawHeaders));
  });

  return {
    serve(socket, opened, peer) {
      // A session does not end when a half-open socket ends.
      socket.allowHalfOpen = false;
      const remoteAddress = socket.remoteAddress;
      const session = startSession(server, socket);
      if (session === undefined) return undefined;
      session.on('error', (error) => onProblem({ kind: 'http2-session', error, remoteAddress }));
      // Header size and stream count are enforced after the acknowledgement.
      session.once('localSettings', opened);
      if (peer !== undefined) admission?.recognize(session, peer);
      return new Http2Connection(session, socket, limits, onProblem, peer);
    },
  };
}
