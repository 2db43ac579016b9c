/** Limits of the listener. Times are in milliseconds, sizes in bytes unless noted otherwise. */
export interface ListenerLimits {
  /** Open connections; further ones are closed immediately. */
  readonly maxConnections: number;
  /** From accept to an open connection: TLS handshake done, protocol known, HTTP/2 settings exchanged. */
  readonly openingTimeoutMs: number;
  /** Total size of the header lines of a request. */
  readonly maxHeaderBytes: number;
  /** Header lines of a request; over HTTP/2 including the pseudo headers. */
  readonly maxHeaderCount: number;
  /** HTTP/1: from the first byte of a request until its headers are complete. */
  readonly headersTimeoutMs: number;
  /**
   * From the first byte of a request to the end of its body; not for gRPC and Connect streams over HTTP/2.
   */
  readonly requestTimeoutMs: number;
  /** HTTP/1: interval at which the two limits above are checked, and so how late they may fire. */
  readonly timeoutCheckIntervalMs: number;
  /** HTTP/1: how long an idle connection is kept; Node.js adds up to a second. */
  readonly keepAliveTimeoutMs: number;
  /** How long unsent bytes may make no progress before the connection is closed. */
  readonly sendStallTimeoutMs: number;
  /** HTTP/2: concurrent streams per connection. */
  readonly http2MaxConcurrentStreams: number;
  /** HTTP/2: the same while the client uses more than its share of the time. */
  readonly http2NarrowStreams: number;
  /** HTTP/2: memory of one session in megabytes; new streams are refused above it. */
  readonly http2SessionMemoryMegabytes: number;
  /** HTTP/2: how long a session is kept without an open stream. */
  readonly http2IdleTimeoutMs: number;
  /**
   * HTTP/2: interval between pings. They detect vanished peers, and sessions ended by a protocol error: for
   * most of these Node.js sends GOAWAY, stops reading and leaves the socket open forever.
   */
  readonly http2PingIntervalMs: number;
  /** HTTP/2: how long the answer to a ping may take before the session is destroyed. */
  readonly http2PingTimeoutMs: number;
  /** HTTP/2: PING and SETTINGS frames a client may send within one window of time. */
  readonly http2MaxControlFrames: number;
  /** HTTP/2: length of that window of time. */
  readonly http2ControlFrameWindowMs: number;
  /** How long a closed connection may take to flush and close before it is destroyed. */
  readonly lingerMs: number;
  /** HTTP/1: how long the first request of a connection may take to arrive after draining has started. */
  readonly lastRequestTimeoutMs: number;
  /** How long running requests may take to finish while draining, unless `drain` is given a limit. */
  readonly drainGraceMs: number;
}

/** Default limits of the service. */
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
  // Longer than the 60 s of common load balancers: they must be the ones to close an idle connection.
  keepAliveTimeoutMs: 72_000,
  sendStallTimeoutMs: 60_000,
  http2MaxConcurrentStreams: 256,
  http2NarrowStreams: 16,
  http2SessionMemoryMegabytes: 16,
  // gRPC clients keep channels for a long time and reconnect silently.
  http2IdleTimeoutMs: 300_000,
  http2PingIntervalMs: 15_000,
  http2PingTimeoutMs: 20_000,
  // Bandwidth probes of gRPC clients send at most a few hundred per second.
  http2MaxControlFrames: 10_000,
  http2ControlFrameWindowMs: 10_000,
  lingerMs: 2_000,
  lastRequestTimeoutMs: 500,
  drainGraceMs: 10_000,
};
