import type { Duplex } from 'node:stream';

/** Protocol of a connection. */
export type Protocol = 'http1' | 'http2';

/** First protocol used by a client. */
export type Opening = Protocol | 'tls';

/** Type of a TLS record with a handshake message (RFC 8446, section 5.1). No HTTP method starts with it. */
const TLS_HANDSHAKE = 0x16;

const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/**
 * Detects the protocol of a connection from its first bytes without consuming them. A TLS handshake is
 * recognized by its first byte. Anything but the complete HTTP/2 connection preface is HTTP/1, which answers
 * garbage with an error. A connection that ends before the decision is destroyed; the caller handles the
 * timeout of silent ones. `decided` also receives the bytes read.
 */
export function peekProtocol(socket: Duplex, decided: (opening: Opening, received: Buffer) => void): void {
  let received = Buffer.alloc(0);

  const onEnd = () => socket.destroy();
  const decide = (opening: Opening) => {
    socket.off('readable', onReadable);
    socket.off('end', onEnd);
    socket.unshift(received);
    decided(opening, received);
  };
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    received = Buffer.concat([received, chunk]);
    const length = Math.min(received.length, HTTP2_PREFACE.length);
    if (received[0] === TLS_HANDSHAKE) decide('tls');
    else if (!received.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length))) decide('http1');
    else if (length === HTTP2_PREFACE.length) decide('http2');
  };

  socket.on('end', onEnd);
  socket.on('readable', onReadable);
}

/** Length of the connection preface, and of a frame header (RFC 9113, sections 3.4 and 4.1). */
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const RST_STREAM = 3;

/** Streams that a client may have reset before the service has sent anything. */
const MAX_RESETS = 20;

/**
 * Whether the first bytes of an HTTP/2 client open streams only to reset them. Checked before a session is
 * created: Node.js takes a hundred times longer to detect this, and a client that reconnects each time would
 * keep it busy.
 */
export function isResetStorm(received: Buffer): boolean {
  let resets = 0;
  for (
    let at = PREFACE_BYTES;
    at + HEAD_BYTES <= received.length;
    at += HEAD_BYTES + received.readUIntBE(at, 3)
  ) {
    if (received[at + 3] !== RST_STREAM) continue;
    resets += 1;
    if (resets > MAX_RESETS) return true;
  }
  return false;
}
