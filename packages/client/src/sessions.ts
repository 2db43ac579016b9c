import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
  SecureClientSessionOptions,
} from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { Http2SessionManager } from '@connectrpc/connect-node';

/** A connection in use and silent for this long is pinged ... */
const PING_INTERVAL_MS = 5_000;
/** ... and closed after this long without an answer. */
const PING_TIMEOUT_MS = 3_000;

/** One HTTP/2 connection at a time, which can be replaced while calls on it are still answered. */
export interface Sessions {
  /** For a transport of Connect. */
  readonly manager: {
    readonly authority: string;
    request(
      method: string,
      path: string,
      headers: OutgoingHttpHeaders,
      options: Omit<ClientSessionRequestOptions, 'signal'>,
    ): Promise<ClientHttp2Stream>;
    notifyResponseByteRead(stream: ClientHttp2Stream): void;
  };
  /** The next call opens a new connection; calls that are running end on the old one. */
  renew(): void;
  /** Aborts a pending connection attempt. */
  resetConnection(): void;
  close(): void;
  /** Called when the server announced with GOAWAY that it ends the connection of new calls. */
  onGoaway: () => void;
}

export function createSessions(baseUrl: string, options: SecureClientSessionOptions): Sessions {
  const create = (): Http2SessionManager =>
    new Http2SessionManager(
      baseUrl,
      { pingIntervalMs: PING_INTERVAL_MS, pingTimeoutMs: PING_TIMEOUT_MS },
      options,
    );
  /** Managers of replaced connections, which still have calls. */
  const leaving = new Set<Http2SessionManager>();
  const watched = new WeakSet<ClientHttp2Session>();
  let current = create();

  function watch(manager: Http2SessionManager, stream: ClientHttp2Stream): void {
    stream.once('close', () => {
      // The manager counts its streams in a listener of the same event.
      if (leaving.has(manager)) queueMicrotask(() => endIfIdle(manager));
    });
    const { session } = stream;
    if (session === undefined || watched.has(session as ClientHttp2Session)) return;
    watched.add(session as ClientHttp2Session);
    session.once('goaway', () => {
      if (manager === current) sessions.onGoaway();
    });
  }

  function endIfIdle(manager: Http2SessionManager): void {
    if (manager.state() === 'open' || manager.state() === 'connecting') return;
    leaving.delete(manager);
    manager.abort(new ConnectError('the connection was replaced', Code.Canceled));
  }

  const sessions: Sessions = {
    manager: {
      authority: current.authority,
      async request(method, path, headers, given) {
        const manager = current;
        const stream = await manager.request(method, path, headers, given);
        watch(manager, stream);
        return stream;
      },
      notifyResponseByteRead(stream) {
        current.notifyResponseByteRead(stream);
        for (const manager of leaving) manager.notifyResponseByteRead(stream);
      },
    },
    renew() {
      const old = current;
      current = create();
      leaving.add(old);
      endIfIdle(old);
    },
    resetConnection() {
      whenQuiet(() => {
        if (current.state() !== 'connecting') return;
        current.abort(new ConnectError('connecting took too long', Code.Unavailable));
      });
    },
    close() {
      whenQuiet(() => {
        for (const manager of [current, ...leaving]) {
          manager.abort(new ConnectError('the client is closed', Code.Canceled));
        }
      });
    },
    onGoaway() {},
  };
  return sessions;
}

/**
 * Acts once Node.js has told all that it knows of connections. Aborted between the failure of an attempt and its event, the
 * manager would no longer listen to that event: an uncaught exception, which ends the process.
 */
function whenQuiet(act: () => void): void {
  setImmediate(act);
}
