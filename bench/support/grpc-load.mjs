/** A gRPC load generator over bare node:http2: prepared bytes out, lengths of messages in. */
import http2 from 'node:http2';

const SESSIONS = 4;
/** Calls, or streams, at the same time on each session. */
const UNARY_AT_ONCE = 16;
const STREAMS = 2;
/** Messages of one stream that wait for their answer. */
const WINDOW = 64;

/** Makes `count` unary calls. Resolves with the last reply. */
export async function unaryLoad(url, path, message, count) {
  let left = count;
  let reply = Buffer.alloc(0);
  const headers = requestHeaders(path);
  const call = (session) =>
    new Promise((resolve, reject) => {
      const stream = session.request(headers);
      const chunks = [];
      let status = '';
      stream.on('response', (found) => (status = found['grpc-status'] ?? ''));
      stream.on('trailers', (found) => (status = found['grpc-status']));
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('close', () => {
        if (chunks.length > 0) reply = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
        if (status === '0') resolve();
        else reject(new Error(`a call ended with status ${status}`));
      });
      stream.end(message);
    });
  await onSessions(url, UNARY_AT_ONCE, async (session) => {
    while (left > 0) {
      left -= 1;
      await call(session);
    }
  });
  return reply;
}

/** Sends `count` messages on a few streams. Resolves with a reply. */
export async function streamLoad(url, path, message, count) {
  const each = Math.ceil(count / (SESSIONS * STREAMS));
  let reply = Buffer.alloc(0);
  await onSessions(
    url,
    STREAMS,
    (session) =>
      new Promise((resolve, reject) => {
        const stream = session.request(requestHeaders(path));
        let sent = 0;
        let answered = 0;
        let rest = Buffer.alloc(0);
        const send = () => {
          const burst = Math.min(WINDOW - (sent - answered), each - sent);
          if (burst > 0) {
            stream.write(burst === 1 ? message : Buffer.concat(Array(burst).fill(message)));
            sent += burst;
          }
          if (sent === each) stream.end();
        };
        stream.on('error', reject);
        stream.on('data', (chunk) => {
          rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
          let at = 0;
          while (rest.length - at >= 5) {
            const end = at + 5 + rest.readUInt32BE(at + 1);
            if (end > rest.length) break;
            reply = rest.subarray(at, end);
            at = end;
            answered += 1;
          }
          rest = rest.subarray(at);
          // In halves of the window, so that neither side speaks about every message on its own.
          if (sent < each && sent - answered <= WINDOW / 2) send();
        });
        stream.on('close', () => {
          if (answered === each) resolve();
          else reject(new Error(`${answered} of ${each} messages were answered`));
        });
        send();
      }),
  );
  return reply;
}

async function onSessions(url, atOnce, work) {
  const sessions = Array.from({ length: SESSIONS }, () => http2.connect(url));
  try {
    await Promise.all(sessions.flatMap((session) => Array.from({ length: atOnce }, () => work(session))));
  } finally {
    for (const session of sessions) session.destroy();
  }
}

function requestHeaders(path) {
  return { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
}
