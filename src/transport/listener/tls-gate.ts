import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { ProblemListener } from './problem.js';
import type { Protocol } from './protocol-peek.js';

/** Certificate (with its chain) and private key, both PEM. */
export interface TlsCredentials {
  readonly cert: Buffer | string;
  readonly key: Buffer | string;
}

/** Performs TLS handshakes on raw connections. */
export interface TlsGate {
  /** Starts the handshake. The caller limits its time by destroying the raw socket. */
  handshake(raw: Socket, secured: (socket: TLSSocket, protocol: Protocol) => void): void;
}

/** Offers HTTP/2 and HTTP/1.1 by ALPN; a client without ALPN gets HTTP/1.1. TLS 1.2 or newer. */
export function createTlsGate(credentials: TlsCredentials, onProblem: ProblemListener): TlsGate {
  checkCredentials(credentials);
  const waiting = new Map<string, (socket: TLSSocket, protocol: Protocol) => void>();
  // This server never listens: it is given raw connections and emits them decrypted.
  const server = createServer({
    cert: credentials.cert,
    key: credentials.key,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2', 'http/1.1'],
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
  };
}

/**
 * Identifies a connection: no two open ones share both ends. There is no public way from a decrypted socket
 * to its raw socket, but both report the same ends.
 */
function endpoints(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress} ${socket.localPort}`;
}

/** Throws an Error with the reason if the certificate or key cannot be used. */
export function checkCredentials({ cert, key }: TlsCredentials): void {
  const certificate = explain('The TLS certificate cannot be read', () => new X509Certificate(cert));
  const privateKey = explain('The TLS private key cannot be read', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error('The TLS private key does not belong to the certificate');
  }
}

function explain<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
