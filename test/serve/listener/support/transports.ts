import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import type { TlsCredentials } from '../../../../src/serve/listener/tls-gate.js';
import { event } from './events.js';

const fixture = (name: string) => readFileSync(new URL(`../../../fixtures/tls/${name}`, import.meta.url));

/** Self-signed, for tests only. */
export const TEST_CREDENTIALS: TlsCredentials = {
  cert: fixture('test-only-server-cert.pem'),
  key: fixture('test-only-server-key.pem'),
};

export const OTHER_CREDENTIALS: TlsCredentials = {
  cert: fixture('test-only-other-cert.pem'),
  key: fixture('test-only-other-key.pem'),
};

/** A client connection: bytes go in and out of `socket`; `wire` is the TCP socket below, the same in plaintext. */
export interface ClientConnection {
  readonly socket: net.Socket;
  readonly wire: net.Socket;
}

/** One way to reach the port; the same tests run over each. */
export interface Transport {
  readonly name: string;
  readonly scheme: 'http' | 'https';
  readonly tls: TlsCredentials | undefined;
  /** Opens a connection that is ready for the first byte of its protocol. */
  open(port: number, protocol: 'h2' | 'http/1.1', allowHalfOpen?: boolean): Promise<ClientConnection>;
  createAgent(): http.Agent;
  request(port: number, options: http.RequestOptions): http.ClientRequest;
  connectHttp2(port: number): http2.ClientHttp2Session;
}

async function openWire(port: number, allowHalfOpen = false): Promise<net.Socket> {
  const wire = net.connect({ port, host: '127.0.0.1', allowHalfOpen });
  // Tests reset and refuse connections on purpose; those that depend on it wait for 'close'.
  wire.on('error', () => {});
  wire.setNoDelay();
  await event(wire, 'connect');
  return wire;
}

export const PLAINTEXT: Transport = {
  name: 'plaintext',
  scheme: 'http',
  tls: undefined,
  async open(port, _protocol, allowHalfOpen) {
    const socket = await openWire(port, allowHalfOpen);
    return { socket, wire: socket };
  },
  createAgent: () => new http.Agent({ keepAlive: true }),
  request: (port, options) => http.request({ host: '127.0.0.1', port, ...options }),
  connectHttp2(port) {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on('error', () => {});
    return session;
  },
};

export const TLS: Transport = {
  name: 'TLS',
  scheme: 'https',
  tls: TEST_CREDENTIALS,
  async open(port, protocol, allowHalfOpen) {
    const wire = await openWire(port, allowHalfOpen);
    const socket = tls.connect({
      socket: wire,
      ca: TEST_CREDENTIALS.cert,
      servername: 'localhost',
      ALPNProtocols: [protocol],
    });
    socket.on('error', () => {});
    await event(socket, 'secureConnect');
    return { socket, wire };
  },
  createAgent: () => new https.Agent({ keepAlive: true }),
  request: (port, options) =>
    https.request({ host: '127.0.0.1', port, ca: TEST_CREDENTIALS.cert, ...options }),
  connectHttp2(port) {
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca: TEST_CREDENTIALS.cert });
    session.on('error', () => {});
    return session;
  },
};

export const TRANSPORTS = [PLAINTEXT, TLS];
