import type { Duplex } from 'node:stream';

/** Protocol of a connection. */
export type Protocol = 'http1' | 'http2';

const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/**
 * Tells the protocol of a plaintext connection from its first bytes and leaves them unread. Whatever is not the
 * whole HTTP/2 connection preface is HTTP/1, which answers garbage with an error. A connection that ends before it
 * is decided is destroyed; one that stays silent is the caller's to time out. `decided` is also given what was read.
 */
export function peekProtocol(socket: Duplex, decided: (protocol: Protocol, received: Buffer) => void): void {
  let received = Buffer.alloc(0);

  const onEnd = () => socket.destroy();
  const decide = (protocol: Protocol) => {
    socket.off('readable', onReadable);
    socket.off('end', onEnd);
    socket.unshift(received);
    decided(protocol, received);
  };
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    received = Buffer.concat([received, chunk]);
    const length = Math.min(received.length, HTTP2_PREFACE.length);
    if (!received.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length))) decide('http1');
    else if (length === HTTP2_PREFACE.length) decide('http2');
  };

  socket.on('end', onEnd);
  socket.on('readable', onReadable);
}
