import type { Duplex } from 'node:stream';

/** Protocol of a connection. */
export type Protocol = 'http1' | 'http2';

/** What a client speaks first. */
export type Opening = Protocol | 'tls';

/** Type of a TLS record that holds a handshake message (RFC 8446, section 5.1). No method of HTTP begins with it. */
const TLS_HANDSHAKE = 0x16;

const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/**
 * Tells the protocol of a connection from its first bytes and leaves them unread. A TLS handshake is known by its first
 * byte. Whatever else is not the whole HTTP/2 connection preface is HTTP/1, which answers garbage with an error. A connection that ends before it
 * is decided is destroyed; one that stays silent is the caller's to time out. `decided` is also given what was read.
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

/** Length of the connection preface, and of the head of each frame (RFC 9113, sections 3.4 and 4.1). */
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const RST_STREAM = 3;

/** Streams that a client may have reset before the service has said a word. */
const MAX_RESETS = 20;

/**
 * Whether what a client of HTTP/2 has sent first opens streams only to reset them. It is looked at before a session is
 * made: Node.js takes a hundred times longer to find the same out, and a client that connects anew each time would keep
 * it busy with that.
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
