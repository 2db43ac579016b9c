import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';
import type { ListenerLimits } from './limits.js';
import type { Connection } from './open-connections.js';
import type { ConnectionProblemKind, ProblemListener } from './problem.js';

/** Content types whose request body may stay open for as long as the client likes. */
const ENDLESS_BODY = /^application\/(?:grpc|connect\+)/;

/** One HTTP/2 session and the streams that run on it. */
export class Http2Connection implements Connection {
  readonly protocol = 'http2';
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #remoteAddress: string | undefined;
  readonly #limits: ListenerLimits;
  readonly #onProblem: ProblemListener;
  readonly #peer: Peer | undefined;
  /** Fires when no stream has been open for the idle time; started anew when the last one closes. */
  readonly #idleTimer: NodeJS.Timeout;
  /** Fires when the next ping is due. */
  readonly #pingTimer: NodeJS.Timeout;
  /** Fires when the answer to a ping is overdue. */
  #answerTimer: NodeJS.Timeout | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #streams = 0;

  constructor(
    session: ServerHttp2Session,
    socket: Socket,
    limits: ListenerLimits,
    onProblem: ProblemListener,
    peer: Peer | undefined,
  ) {
    this.#session = session;
    this.#peer = peer;
    this.#socket = socket;
    this.#remoteAddress = socket.remoteAddress;
    this.#limits = limits;
    this.#onProblem = onProblem;
    this.#idleTimer = setTimeout(() => this.closeIfIdle(), limits.http2IdleTimeoutMs);
    this.#pingTimer = setTimeout(() => this.#ping(), limits.http2PingIntervalMs);
    session.on('stream', (stream, headers) => this.#onStream(stream, headers));
    session.once('close', () => {
      clearTimeout(this.#idleTimer);
      clearTimeout(this.#lingerTimer);
      clearTimeout(this.#pingTimer);
      clearTimeout(this.#answerTimer);
    });
    peer?.speaksHttp2({
      cutOff: () => this.#cutOff('Too many refused or reset calls'),
      limitStreams: (isNarrow) => this.#limitStreams(isNarrow),
    });
    watchControlFrames(session, limits, () => {
      this.#report('control-frame-flood');
      this.#cutOff('Too many control frames');
    });
  }

  get running(): number {
    return this.#streams;
  }

  closeIfIdle(): void {
    if (this.#streams === 0) this.finish();
  }

  finish(): void {
    this.#session.close();
    this.#lingerIfOver();
  }

  /** Clients wait with further calls; those under way go on. */
  #limitStreams(isNarrow: boolean): void {
    if (this.#session.closed || this.#session.destroyed) return;
    const { http2MaxConcurrentStreams: most, http2NarrowStreams } = this.#limits;
    this.#session.settings({ maxConcurrentStreams: isNarrow ? Math.min(most, http2NarrowStreams) : most });
  }

  #cutOff(reason: string): void {
    this.#session.destroy(new Error(reason), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    this.#lingerIfOver();
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    this.#streams += 1;
    const endReceiving = this.#boundReceiving(stream, headers);
    // A stream error is the client's reset or the session's end; whoever handles the request sees it close.
    stream.on('error', () => {});
    stream.once('close', () => {
      endReceiving?.();
      if (!stream.headersSent && stream.rstCode !== constants.NGHTTP2_NO_ERROR) this.#peer?.offended();
      this.#streams -= 1;
      if (this.#streams > 0) return;
      this.#idleTimer.refresh();
      this.#lingerIfOver();
    });
    this.#boundSending(stream);
  }

  /** A request body that has an end must arrive in time. Returns what ends the limit. */
  #boundReceiving(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): (() => void) | undefined {
    if (stream.endAfterHeaders || ENDLESS_BODY.test(headers['content-type'] ?? '')) return undefined;
    const isOver = () => stream.readableEnded || stream.destroyed;
    const limit = setTimeout(() => {
      // What came while this process was busy is read first.
      setImmediate(() => {
        if (isOver()) return;
        // Nothing has asked for the body yet, or the connection is not read: the client is not what is slow.
        if (stream.readableFlowing === null || this.#peer?.isPaused === true) {
          limit.refresh();
          return;
        }
        this.#report('request-timeout');
        stream.close(constants.NGHTTP2_CANCEL);
      });
    }, this.#limits.requestTimeoutMs);
    return () => clearTimeout(limit);
  }

  /** A client that grants no window must not hold a response for ever. */
  #boundSending(stream: ServerHttp2Stream): void {
    stream.on('timeout', () => {
      if (stream.writableLength > 0) {
        this.#report('send-stalled');
        stream.close(constants.NGHTTP2_CANCEL);
      } else {
        stream.setTimeout(this.#limits.sendStallTimeoutMs);
      }
    });
    stream.setTimeout(this.#limits.sendStallTimeoutMs);
  }

  /** Asks the peer whether it is still there. A closing session cannot ask; its streams or the linger time end it. */
  #ping(): void {
    if (this.#session.closed || this.#session.destroyed) return;
    this.#answerTimer = setTimeout(() => {
      this.#report('peer-gone');
      this.#socket.destroy();
    }, this.#limits.http2PingTimeoutMs);
    this.#session.ping(() => {
      clearTimeout(this.#answerTimer);
      this.#pingTimer.refresh();
    });
  }

  /** A closed session without streams flushes what it has to say; a peer that does not take it is cut off. */
  #lingerIfOver(): void {
    if (this.#streams > 0 || this.#lingerTimer !== undefined) return;
    if (!this.#session.closed && !this.#session.destroyed) return;
    this.#lingerTimer = setTimeout(() => {
      this.#lingerTimer = undefined;
      if (this.#streams === 0) this.#socket.destroy();
    }, this.#limits.lingerMs);
  }

  #report(kind: ConnectionProblemKind): void {
    this.#onProblem({ kind, remoteAddress: this.#remoteAddress });
  }
}

/** Calls `flooded` once when a client sends more PING and SETTINGS frames within the window than allowed. */
export function watchControlFrames(
  session: ServerHttp2Session,
  limits: ListenerLimits,
  flooded: () => void,
): void {
  let windowStart = performance.now();
  let frames = 0;

  const count = () => {
    const now = performance.now();
    if (now - windowStart >= limits.http2ControlFrameWindowMs) {
      windowStart = now;
      frames = 0;
    }
    frames += 1;
    if (frames !== limits.http2MaxControlFrames + 1) return;
    session.off('ping', count);
    session.off('remoteSettings', count);
    flooded();
  };

  session.on('ping', count);
  session.on('remoteSettings', count);
}
