/** Bounds of the listener. Times are milliseconds, sizes bytes unless said otherwise. */
export interface ListenerLimits {
  /** Open connections; one more is closed at once. */
  readonly maxConnections: number;
  /** From accept until the connection speaks: TLS handshake done, protocol known, HTTP/2 settings exchanged. */
  readonly openingTimeoutMs: number;
  /** Size of all header lines of a request together. */
  readonly maxHeaderBytes: number;
  /** Header lines of a request; over HTTP/2 the pseudo headers count too. */
  readonly maxHeaderCount: number;
  /** HTTP/1: from the first byte of a request until its headers are complete. */
  readonly headersTimeoutMs: number;
  /** From the first byte of a request until its body is complete; over HTTP/2 not for gRPC and Connect streams. */
  readonly requestTimeoutMs: number;
  /** HTTP/1: how often the two limits above are looked at, and so how late they may fire. */
  readonly timeoutCheckIntervalMs: number;
  /** HTTP/1: how long a connection is kept between requests; Node.js adds up to a second. */
  readonly keepAliveTimeoutMs: number;
  /** How long bytes may wait to be sent without any of them leaving, before the reader is given up. */
  readonly sendStallTimeoutMs: number;
  /** HTTP/2: streams a client may have open on one connection. */
  readonly http2MaxConcurrentStreams: number;
  /** HTTP/2: the same while the client takes more than its share of the time, so that it brings less at once. */
  readonly http2NarrowStreams: number;
  /** HTTP/2: memory of one session in megabytes; new streams are refused above it. */
  readonly http2SessionMemoryMegabytes: number;
  /** HTTP/2: how long a session is kept without an open stream. */
  readonly http2IdleTimeoutMs: number;
  /**
   * HTTP/2: pause between two pings to the peer. They find peers that vanished, and sessions that ended in a breach
   * of protocol: for most breaches Node.js says GOAWAY, stops reading and leaves the socket open for good.
   */
  readonly http2PingIntervalMs: number;
  /** HTTP/2: how long the answer to a ping may take before the session is destroyed. */
  readonly http2PingTimeoutMs: number;
  /** HTTP/2: PING and SETTINGS frames a client may send within one window of time. */
  readonly http2MaxControlFrames: number;
  /** HTTP/2: length of that window. */
  readonly http2ControlFrameWindowMs: number;
  /** How long a closed connection may take to flush and go away before it is destroyed. */
  readonly lingerMs: number;
  /** HTTP/1: how long the first request of a connection may still take to arrive once draining has started. */
  readonly lastRequestTimeoutMs: number;
  /** How long running requests may take to finish while draining, unless `drain` is told otherwise. */
  readonly drainGraceMs: number;
}

/** What the service uses unless it is configured otherwise. */
export const DEFAULT_LISTENER_LIMITS: ListenerLimits = {
  // Well below usual file descriptor limits of servers, far above what one process can serve.
  maxConnections: 10_000,
  openingTimeoutMs: 10_000,
  // Node's own default; room for a bearer token and cookies.
  maxHeaderBytes: 16_384,
  maxHeaderCount: 128,
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 60_000,
  timeoutCheckIntervalMs: 5_000,
  // Longer than the 60 s of common load balancers: they, not we, must close an idle connection first.
  keepAliveTimeoutMs: 72_000,
  sendStallTimeoutMs: 60_000,
  http2MaxConcurrentStreams: 256,
  http2NarrowStreams: 16,
  http2SessionMemoryMegabytes: 16,
  // gRPC clients keep channels for long and reconnect silently.
  http2IdleTimeoutMs: 300_000,
  http2PingIntervalMs: 15_000,
  http2PingTimeoutMs: 20_000,
  // Bandwidth probes of gRPC clients send some hundreds a second at most.
  http2MaxControlFrames: 10_000,
  http2ControlFrameWindowMs: 10_000,
  lingerMs: 2_000,
  lastRequestTimeoutMs: 500,
  drainGraceMs: 10_000,
};
