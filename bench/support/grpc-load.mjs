/** A load generator for gRPC: prepared messages out, lengths of messages in. A call that fails fails the load. */
import { Http2Client } from './http2-client.mjs';

const CONNECTIONS = 4;
/** Unary calls at the same time on each connection. */
const UNARY_AT_ONCE = 16;
/** Streams on each connection. */
const STREAMS = 2;
/** Messages of one stream that wait for their answer. */
const WINDOW = 64;
/** @type {Buffer} */
const NOTHING = Buffer.alloc(0);

/**
 * Makes `count` unary calls. Resolves with the last reply.
 * @param {string} url
 * @param {string} path
 * @param {Buffer} message
 * @param {number} count
 */
export async function unaryLoad(url, path, message, count) {
  let left = count;
  let last = NOTHING;
  /** @type {(client: Http2Client) => Promise<void>} */
  const call = (client) =>
    new Promise((resolve, reject) => {
      let reply = NOTHING;
      const onData = (/** @type {Buffer} */ bytes) => {
        reply = reply.length === 0 ? bytes : Buffer.concat([reply, bytes]);
      };
      const stream = client.open(onData, () => {
        // Only an answer has a message.
        if (reply.length < 5 || reply.readUInt32BE(1) !== reply.length - 5)
          reject(new Error('a call failed'));
        last = reply;
        resolve();
      });
      client.write(stream, message, true);
    });
  await onConnections(url, path, UNARY_AT_ONCE, async (client) => {
    while (left > 0) {
      left -= 1;
      await call(client);
    }
  });
  return last;
}

/** All streams together; each sends as many messages as every other. */
export const STREAMS_IN_ALL = CONNECTIONS * STREAMS;

/**
 * Sends `count` messages, a multiple of STREAMS_IN_ALL, on as many streams. Resolves with a reply.
 * @param {string} url
 * @param {string} path
 * @param {Buffer} message
 * @param {number} count
 */
export async function streamLoad(url, path, message, count) {
  const each = count / STREAMS_IN_ALL;
  if (!Number.isInteger(each))
    throw new Error(`${count} messages cannot be shared by ${STREAMS_IN_ALL} streams`);
  let last = NOTHING;
  await onConnections(
    url,
    path,
    STREAMS,
    (client) =>
      new Promise((resolve, reject) => {
        let sent = 0;
        let answered = 0;
        let rest = NOTHING;
        const send = () => {
          for (; sent - answered < WINDOW && sent < each; sent += 1) {
            client.write(stream, message, sent === each - 1);
          }
        };
        const onData = (/** @type {Buffer} */ bytes) => {
          rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
          let at = 0;
          while (rest.length - at >= 5) {
            const end = at + 5 + rest.readUInt32BE(at + 1);
            if (end > rest.length) break;
            last = rest.subarray(at, end);
            at = end;
            answered += 1;
          }
          rest = rest.subarray(at);
          // In halves of the window, so that neither side speaks about every message on its own.
          if (sent - answered <= WINDOW / 2) send();
        };
        const stream = client.open(onData, () => {
          if (answered === each) resolve();
          else reject(new Error(`${answered} of ${each} messages were answered`));
        });
        send();
      }),
  );
  return last;
}

/**
 * @param {string} url
 * @param {string} path
 * @param {number} atOnce
 * @param {(client: Http2Client) => Promise<void>} work
 */
async function onConnections(url, path, atOnce, work) {
  /** @type {(error: Error) => void} */
  let failed = () => {};
  const failure = new Promise((_, reject) => {
    failed = reject;
  });
  const connecting = Array.from({ length: CONNECTIONS }, () => Http2Client.connect(url, path, failed));
  const clients = await Promise.all(connecting);
  try {
    const all = clients.flatMap((client) => Array.from({ length: atOnce }, () => work(client)));
    await Promise.race([failure, Promise.all(all)]);
  } finally {
    for (const client of clients) client.close();
  }
}
