import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, createServer, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { ProblemListener } from './problem.js';
import type { Protocol } from './protocol-peek.js';

/** Certificate (with its chain) and private key, both PEM. */
export interface TlsCredentials {
  readonly cert: Buffer | string;
  readonly key: Buffer | string;
  /** Authorities of client certificates, PEM. Without them clients are not asked for one. */
  readonly clientCa?: Buffer | string;
}

/** Performs TLS handshakes on raw connections. */
export interface TlsGate {
  /** Starts the handshake. The caller limits its time by destroying the raw socket. */
  handshake(raw: Socket, secured: (socket: TLSSocket, protocol: Protocol) => void): void;
  /** Uses other credentials for handshakes from now on. Throws an Error with the reason if they cannot be used. */
  renew(credentials: TlsCredentials): void;
}

/** Options of a gate besides its credentials. */
export interface TlsGateOptions {
  /** Whether clients without a valid certificate are refused in the handshake; needs authorities. */
  readonly requiresClientCertificate?: boolean | undefined;
}

const MIN_VERSION = 'TLSv1.2';

/** Offers HTTP/2 and HTTP/1.1 by ALPN; a client without ALPN gets HTTP/1.1. TLS 1.2 or newer. */
export function createTlsGate(
  credentials: TlsCredentials,
  onProblem: ProblemListener,
  { requiresClientCertificate = false }: TlsGateOptions = {},
): TlsGate {
  checkCredentials(credentials);
  const waiting = new Map<string, (socket: TLSSocket, protocol: Protocol) => void>();
  // This server never listens: it is given raw connections and emits them decrypted.
  const server = createServer({
    ...contextOf(credentials),
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: credentials.clientCa !== undefined,
    rejectUnauthorized: requiresClientCertificate,
  });

  server.on('tlsClientError', (error, socket) => {
    onProblem({ kind: 'tls-handshake', error, remoteAddress: socket.remoteAddress });
    socket.destroy();
  });
  server.on('secureConnection', (socket) => {
    socket.on('error', (error) => onProblem({ kind: 'socket', error, remoteAddress: socket.remoteAddress }));
    const secured = waiting.get(endpoints(socket));
    if (secured === undefined)
      socket.destroy(); // the peer has disconnected meanwhile
    else secured(socket, socket.alpnProtocol === 'h2' ? 'http2' : 'http1');
  });

  return {
    handshake(raw, secured) {
      const key = endpoints(raw);
      waiting.set(key, secured);
      raw.once('close', () => {
        if (waiting.get(key) === secured) waiting.delete(key);
      });
      raw.allowHalfOpen = false;
      server.emit('connection', raw);
    },
    renew(renewed) {
      checkCredentials(renewed);
      server.setSecureContext(contextOf(renewed));
    },
  };
}

/**
 * Identifies a connection: no two open ones share both ends. There is no public way from a decrypted socket
 * to its raw socket, but both report the same ends.
 */
function endpoints(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}

function contextOf({ cert, key, clientCa }: TlsCredentials): SecureContextOptions {
  return { cert, key, minVersion: MIN_VERSION, ...(clientCa === undefined ? {} : { ca: clientCa }) };
}

/** Throws an Error with the reason if the certificate, the key or the authorities cannot be used. */
export function checkCredentials(credentials: TlsCredentials): void {
  const { cert, key, clientCa } = credentials;
  const certificate = explain('The TLS certificate cannot be read', () => new X509Certificate(cert));
  const privateKey = explain('The TLS private key cannot be read', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error('The TLS private key does not belong to the certificate');
  }
  if (clientCa !== undefined) {
    explain('The authorities of client certificates cannot be read', () => new X509Certificate(clientCa));
  }
  // Whatever else a handshake needs, such as the rest of the chain.
  explain('The TLS files cannot be used', () => createSecureContext(contextOf(credentials)));
}

function explain<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
