import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';
import { mediaTypeOf } from '../wire/media-types.js';
import type { ListenerLimits } from './limits.js';
import type { Connection } from './open-connections.js';
import type { ConnectionProblemKind, ProblemListener } from './problem.js';

/** How long a client has to read that its connection closes. */
const RETIRE_MS = 1_000;
/** In a GOAWAY that takes all streams on the way (RFC 9113, section 6.8). */
const MAX_STREAM_ID = 2 ** 31 - 1;

/** One HTTP/2 session and its streams. */
export class Http2Connection implements Connection {
  readonly protocol = 'http2';
  readonly session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #remoteAddress: string | undefined;
  readonly #limits: ListenerLimits;
  readonly #onProblem: ProblemListener;
  readonly #peer: Peer | undefined;
  /** Fires when no stream has been open for the idle time; restarted when the last one closes. */
  readonly #idleTimer: NodeJS.Timeout;
  /** Fires when the next ping is due. */
  readonly #pingTimer: NodeJS.Timeout;
  /** Fires when the answer to a ping is overdue. */
  #answerTimer: NodeJS.Timeout | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #retireTimer: NodeJS.Timeout | undefined;
  #streams = 0;

  constructor(
    session: ServerHttp2Session,
    socket: Socket,
    limits: ListenerLimits,
    onProblem: ProblemListener,
    peer: Peer | undefined,
  ) {
    this.session = session;
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
      clearTimeout(this.#retireTimer);
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
    this.session.close();
    this.#lingerIfOver();
  }

  /**
   * The first GOAWAY takes every stream that is on the way: one with the last stream that was read would refuse streams
   * that are read before it leaves, and their clients would send again what was evaluated. The connection is closed a
   * moment later, which says what was not taken: closed at once, it would be reset, maybe before the client has read that.
   * A ping cannot tell when it has: after GOAWAY, nghttp2 reads nothing more unless streams run.
   */
  retire(): void {
    if (this.session.closed || this.session.destroyed || this.#retireTimer !== undefined) return;
    this.session.goaway(constants.NGHTTP2_NO_ERROR, MAX_STREAM_ID);
    this.#retireTimer = setTimeout(() => this.finish(), RETIRE_MS);
  }

  /** Clients delay further calls; running ones continue. */
  #limitStreams(isNarrow: boolean): void {
    if (this.session.closed || this.session.destroyed) return;
    const { http2MaxConcurrentStreams: most, http2NarrowStreams } = this.#limits;
    this.session.settings({ maxConcurrentStreams: isNarrow ? Math.min(most, http2NarrowStreams) : most });
  }

  /**
   * Ends the session after the frames that were read with the last one. A session that is destroyed from within
   * one of its events resets streams that nghttp2 still uses, see https://github.com/nodejs/node/pull/64166.
   */
  #cutOff(reason: string): void {
    setImmediate(() => {
      this.session.destroy(new Error(reason), constants.NGHTTP2_ENHANCE_YOUR_CALM);
      this.#lingerIfOver();
    });
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    this.#streams += 1;
    const endReceiving = this.#boundReceiving(stream, headers);
    // Stream errors are resets by the client or the end of the session; request handlers see the close event.
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

  /** Limits the time for a finite request body to arrive. Returns a function that removes the limit. */
  #boundReceiving(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): (() => void) | undefined {
    if (stream.endAfterHeaders || mediaTypeOf(headers['content-type']).isStream) return undefined;
    const isOver = () => stream.readableEnded || stream.destroyed;
    const limit = setTimeout(() => {
      // Input that arrived while the process was busy is read first.
      setImmediate(() => {
        if (isOver()) return;
        // The body is not being read, or the connection is paused: the delay is not caused by the client.
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

  /** Limits how long a client without flow-control window can hold up a response. */
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

  /**
   * Checks whether the peer is alive. Closing sessions cannot ping; their streams or the linger time end
   * them.
   */
  #ping(): void {
    if (this.session.closed || this.session.destroyed) return;
    this.#answerTimer = setTimeout(() => {
      this.#report('peer-gone');
      this.#socket.destroy();
    }, this.#limits.http2PingTimeoutMs);
    this.session.ping(() => {
      clearTimeout(this.#answerTimer);
      this.#pingTimer.refresh();
    });
  }

  /**
   * Lets a closed session without streams flush its output; destroys the socket if the peer does not read.
   */
  #lingerIfOver(): void {
    if (this.#streams > 0 || this.#lingerTimer !== undefined) return;
    if (!this.session.closed && !this.session.destroyed) return;
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
