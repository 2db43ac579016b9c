import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import { callerError } from '../../contract/errors/service-error.js';
import { MEDIA_TYPES } from '../wire/media-types.js';
import { problemBody } from '../wire/problem.js';
import type { Opening } from './protocol-peek.js';

/** Bytes that are dropped from a refused client before its connection is destroyed. */
const MAX_DROPPED_BYTES = 65_536;

const EXPLANATION = 'This port speaks https';

/** A fatal alert: protocol_version (RFC 8446, section 6). */
const TLS_ALERT = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);

/** SETTINGS, sent first by a server, and GOAWAY with INADEQUATE_SECURITY (RFC 9113, sections 3.4 and 6.8). */
const HTTP2_REFUSAL = Buffer.concat([
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 8 + EXPLANATION.length, 7, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0xc]),
  Buffer.from(EXPLANATION),
]);

/** Whether the first bytes of a connection may be an HTTP request: a method starts with a letter. */
export function isHttp(received: Buffer): boolean {
  return /^[A-Za-z]/.test(String.fromCharCode(received[0] ?? 0));
}

/**
 * Refuses a client in its own protocol, because the port does not serve it, and closes the connection: TLS on
 * a plaintext port, or HTTP without TLS on a TLS port. Only the first bytes of the request are read. A client
 * that does not close its end is disconnected after `lingerMs`.
 */
export function refuseProtocol(socket: Socket, spoken: Opening, received: Buffer, lingerMs: number): void {
  let dropped = 0;
  socket.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > MAX_DROPPED_BYTES) socket.destroy();
  });
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  if (spoken === 'tls') socket.end(TLS_ALERT);
  else if (spoken === 'http2') socket.end(HTTP2_REFUSAL);
  else socket.end(http1Refusal(received));
}

function http1Refusal(received: Buffer): string {
  const error = callerError('TLS_REQUIRED', {
    detail: `${EXPLANATION}, but the request came without TLS.`,
    hint: 'Use a URL that begins with https://.',
  });
  const problem = problemBody(error, { instance: pathIn(received), now: new Date(), requestId: '' });
  const body = stringifyJson(problem);
  const headers = [
    'HTTP/1.1 400 Bad Request',
    `Content-Type: ${MEDIA_TYPES.json}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${body}`;
}

/** The path of a request without its query, if its first line has arrived, else `/`. */
function pathIn(received: Buffer): string {
  const path = /^[A-Za-z]+ (\/[^ ?\r\n]*)[ ?]/.exec(received.toString('latin1', 0, 8_192))?.[1] ?? '/';
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Answers input that is not valid HTTP/1 and closes the connection; for `fastify({ clientErrorHandler })`.
 * The answers are the same as Fastify's, which destroys the socket immediately: over TLS, where a write may
 * have to wait for the previous one, the answer would be lost.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = answerTo(error.code);
  const label = STATUS_CODES[status];
  const body = JSON.stringify({ error: label, message, statusCode: status });
  const type = `Content-Type: ${MEDIA_TYPES.json}`;
  const head = `HTTP/1.1 ${status} ${label}\r\nContent-Length: ${body.length}\r\n${type}`;
  socket.write(`${head}\r\n\r\n${body}`);
  socket.destroySoon();
}

function answerTo(code: string | undefined): [status: number, message: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Client Timeout'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Exceeded maximum allowed HTTP header size'];
  return [400, 'Client Error'];
}
