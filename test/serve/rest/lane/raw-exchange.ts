import { once } from 'node:events';
import net from 'node:net';

/** What a client sends: pieces that are written one after the other, each once the one before has left. */
export type Sent = readonly (string | Buffer)[];

/** All bytes that come back until the server closes the connection. */
export async function rawExchange(url: string, sent: Sent): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  // A refused client may be cut off while it is still sending.
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (const piece of sent) {
    if (socket.writable) await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  return Buffer.concat(chunks);
}
