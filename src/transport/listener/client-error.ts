import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Answers what is no request of HTTP/1 and closes the connection; for `fastify({ clientErrorHandler })`. The answers are
 * those of Fastify itself, which destroys the socket at once: over TLS, where a write may have to wait for the one before
 * it, the answer would be lost.
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
  const head = `HTTP/1.1 ${status} ${label}\r\nContent-Length: ${body.length}\r\nContent-Type: application/json`;
  socket.write(`${head}\r\n\r\n${body}`);
  socket.destroySoon();
}

function answerTo(code: string | undefined): [status: number, message: string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Client Timeout'];
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Exceeded maximum allowed HTTP header size'];
  return [400, 'Client Error'];
}
