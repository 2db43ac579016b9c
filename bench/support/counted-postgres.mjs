/** A proxy in front of PostgreSQL that counts what a client waits for. */
import net from 'node:net';

/** Types of messages after which a client waits for the server: a query, and the end of a group of messages. */
const TURNS = new Set(['Q', 'S'].map((type) => type.charCodeAt(0)));
const HEAD = 5;

/**
 * Counts the round trips of all connections through it. Without TLS.
 * @param {string} target URL of the server
 */
export async function countedPostgres(target) {
  const { hostname, port } = new URL(target);
  let trips = 0;
  /** @type {Set<net.Socket>} */
  const sockets = new Set();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    // The first message has a length and no type.
    let isFirst = true;
    /** @type {Buffer} */
    let rest = Buffer.alloc(0);
    client.on('data', (/** @type {Buffer} */ bytes) => {
      rest = Buffer.concat([rest, bytes]);
      while (rest.length >= HEAD) {
        const size = isFirst ? rest.readUInt32BE(0) : 1 + rest.readUInt32BE(1);
        if (rest.length < size) break;
        if (!isFirst && TURNS.has(rest[0] ?? 0)) trips += 1;
        isFirst = false;
        rest = rest.subarray(size);
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = /** @type {net.AddressInfo} */ (server.address());
  const url = new URL(target);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    trips: () => trips,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
