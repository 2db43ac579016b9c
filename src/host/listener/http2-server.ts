import {
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import { Http2Connection } from './http2-connection.js';
import type { ListenerLimits } from './limits.js';
import type { ProblemListener } from './problem.js';

/** Frames that break the protocol, and streams refused, after which a session is destroyed. */
const MAX_INVALID_FRAMES = 100;
const MAX_REJECTED_STREAMS = 100;

/** Speaks HTTP/2 on sockets that others accepted. */
export interface Http2Sockets {
  /**
   * Starts a session on an open socket; `opened` is called once the client has acknowledged our settings. Returns
   * undefined when no session could be started.
   */
  serve(socket: Socket, opened: () => void): Http2Connection | undefined;
}

/** Makes the HTTP/2 server; `onRequest` gets the requests of all its sessions. */
export function createHttp2Sockets(
  limits: ListenerLimits,
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
  onProblem: ProblemListener,
): Http2Sockets {
  // This server never listens: sockets are handed to it.
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
  let started: ServerHttp2Session | undefined;
  server.on('session', (session) => {
    started = session;
  });

  return {
    serve(socket, opened) {
      // A session does not end by itself when a half-open socket ends.
      socket.allowHalfOpen = false;
      const remoteAddress = socket.remoteAddress;
      server.emit('connection', socket);
      const session = started;
      started = undefined;
      if (session === undefined) return undefined;
      session.on('error', (error) => onProblem({ kind: 'http2-session', error, remoteAddress }));
      // Header size and stream count are enforced from the acknowledgement on.
      session.once('localSettings', opened);
      return new Http2Connection(session, socket, limits, onProblem);
    },
  };
}
