/** A load generator for one HTTP/1.1 request over bare sockets: prepared bytes out, ends of replies in. */
import { once } from 'node:events';
import net from 'node:net';

const HEAD_END = '\r\n\r\n';

/**
 * Posts `body` to `path` `count` times over `connections`, each of which has the next request ready when a reply has
 * arrived. Resolves, as soon as the last reply has arrived, with its body; rejects on any status but 200.
 * @param {string} url
 * @param {string} path
 * @param {string | Buffer} body
 * @param {number} count
 * @param {string} type the media type of the body
 */
export async function restLoad(url, path, body, count, connections = 32, type = 'application/json') {
  const { hostname, port, host } = new URL(url);
  const head =
    `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${type}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  const request = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
  let left = count;
  /** @type {Buffer} */
  let last = Buffer.alloc(0);
  const run = async () => {
    const socket = net.connect(Number(port), hostname);
    await once(socket, 'connect');
    /** @type {Promise<void>} */
    const answered = new Promise((resolve, reject) => {
      /** @type {Buffer} */
      let pending = Buffer.alloc(0);
      const send = () => {
        if (left <= 0) return resolve();
        left -= 1;
        socket.write(request);
      };
      socket.on('data', (/** @type {Buffer} */ chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const headEnd = pending.indexOf(HEAD_END);
        if (headEnd < 0) return;
        const head = pending.toString('latin1', 0, headEnd);
        const start = headEnd + HEAD_END.length;
        const end = endOf(head, pending, start);
        if (!head.startsWith('HTTP/1.1 200 ') || Number.isNaN(end)) return reject(new Error(head));
        if (pending.length < end) return;
        last = pending.subarray(start, end);
        pending = pending.subarray(end);
        send();
      });
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('a connection was closed')));
      send();
    });
    await answered;
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return last;
}

/** The end of the last chunk, in the replies of Connect. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

/**
 * Where the body that begins at `start` ends; infinite if that has not arrived, NaN if nothing tells.
 * @param {string} head
 * @param {Buffer} pending
 * @param {number} start
 */
function endOf(head, pending, start) {
  const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (size !== undefined) return start + Number(size);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return Number.NaN;
  const at = pending.indexOf(LAST_CHUNK, start);
  return at < 0 ? Number.POSITIVE_INFINITY : at + LAST_CHUNK.length;
}
