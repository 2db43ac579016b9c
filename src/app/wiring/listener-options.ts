import type { Config } from '../../contract/config/config.js';
import { DEFAULT_LISTENER_LIMITS } from '../../serve/listener/limits.js';
import type { ListenerOptions } from '../../serve/listener/listener.js';
import { credentialsOf } from './tls-files.js';

/**
 * How much later than an RPC the listener times out an incomplete request, in milliseconds: an RPC answers in
 * the format of its protocol, the listener just closes.
 */
const RECEIVE_MARGIN_MS = 1_000;

/** Connections beyond the limit that the listener still accepts, so that admission can refuse them. */
const SPARE_CONNECTIONS = 100;

export function listenerTls(
  { clients }: NonNullable<Config['tls']>,
  contents: readonly Buffer[],
): NonNullable<ListenerOptions['tls']> {
  return { ...credentialsOf(contents), requiresClientCertificate: clients?.isRequired };
}

export function listenerLimits({ limits }: Config): NonNullable<ListenerOptions['limits']> {
  const receiveTimeMs = limits.requestTimeoutMs + RECEIVE_MARGIN_MS;
  return {
    drainGraceMs: limits.drainMs,
    requestTimeoutMs: receiveTimeMs,
    timeoutCheckIntervalMs: Math.min(receiveTimeMs, DEFAULT_LISTENER_LIMITS.timeoutCheckIntervalMs),
    http2MaxConcurrentStreams: limits.streamsPerConnection,
    // Admission refuses first, and counts its refusals.
    maxConnections: limits.admission.connections + SPARE_CONNECTIONS,
  };
}
