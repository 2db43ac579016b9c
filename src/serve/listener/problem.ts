/** Why the listener closed a connection or a stream. */
export type ConnectionProblemKind =
  /** The connection limit was reached. */
  | 'refused'
  /** A connection could not be accepted, for example for lack of file descriptors. */
  | 'accept'
  /** The connection was not opened in time. */
  | 'opening-timeout'
  /** TLS on a plaintext port, or HTTP without TLS on a TLS port. */
  | 'wrong-protocol'
  /** The TLS handshake failed. */
  | 'tls-handshake'
  /** The socket failed, usually because of a reset by the peer. */
  | 'socket'
  /** The HTTP/2 session failed, usually because of a protocol error by the peer. */
  | 'http2-session'
  /** A request was not received in time. */
  | 'request-timeout'
  /** The peer did not read. */
  | 'send-stalled'
  /** The peer did not answer a ping. */
  | 'peer-gone'
  /** The peer sent too many control frames. */
  | 'control-frame-flood';

/** A problem with one connection. Never the fault of the service alone: log it at debug level. */
export interface ConnectionProblem {
  readonly kind: ConnectionProblemKind;
  /** Address of the peer, if known. */
  readonly remoteAddress?: string | undefined;
  readonly error?: Error | undefined;
}

/** Receives every problem. Must not throw. */
export type ProblemListener = (problem: ConnectionProblem) => void;

/**
 * The loggable part of a problem. HTTP parser errors contain the bytes they failed on, even keys and steps.
 */
export function problemFacts({ kind, remoteAddress, error }: ConnectionProblem): object {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  return { kind, remoteAddress, code, reason: message };
}
