/**
 * A client that does nothing wrong, in a process of its own: `node victim.mjs URL KEY BODY`. It evaluates a step over
 * gRPC every few milliseconds on one connection, one call at a time, and now and then on a new connection. Asked by its
 * parent it tells how long the calls since it was asked last have taken, and how they ended.
 */
import http2 from 'node:http2';

const [url = '', key = '', bodyText = ''] = process.argv.slice(2);
const body = Buffer.from(bodyText, 'base64');
const PAUSE_MS = 5;
const PROBE_PAUSE_MS = 100;
const CALL_LIMIT_MS = 120_000;

/** @type {number[]} */
let kept = [];
/** @type {number[]} */
let fresh = [];
/** @type {Record<string, number>} */
let failures = {};
/** When the calls that wait for an answer began. */
const waiting = { kept: 0, fresh: 0 };

/** @param {http2.ClientHttp2Session} session @returns {Promise<string>} */
function evaluate(session) {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/enforcement.v1.EvaluationService/Evaluate',
      'content-type': 'application/grpc',
      te: 'trailers',
      'x-api-key': key,
    });
    /** @type {string | undefined} */
    let status;
    stream.on('response', (headers) => {
      status = /** @type {string | undefined} */ (headers['grpc-status']);
    });
    stream.on('trailers', (headers) => {
      status = /** @type {string | undefined} */ (headers['grpc-status']) ?? status;
    });
    let reason = 'closed';
    stream.on('error', (error) => {
      reason = error.message;
    });
    stream.on('close', () => resolve(status ?? `no status: ${reason}`));
    stream.setTimeout(CALL_LIMIT_MS, () => {
      reason = 'no answer in time';
      stream.close();
    });
    stream.resume();
    stream.end(body);
  });
}

function connect() {
  const session = http2.connect(url);
  session.on('error', () => {});
  return session;
}

/** @param {string} status */
function count(status) {
  if (status !== '0') failures[status] = (failures[status] ?? 0) + 1;
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function keep() {
  let session = connect();
  for (;;) {
    if (session.closed || session.destroyed) session = connect();
    waiting.kept = performance.now();
    const status = await evaluate(session).catch((error) => String(error.code));
    kept.push(performance.now() - waiting.kept);
    waiting.kept = 0;
    count(status);
    await pause(PAUSE_MS);
  }
}

async function probe() {
  for (;;) {
    waiting.fresh = performance.now();
    const session = connect();
    const status = await evaluate(session).catch((error) => String(error.code));
    fresh.push(performance.now() - waiting.fresh);
    waiting.fresh = 0;
    count(status);
    session.destroy();
    await pause(PROBE_PAUSE_MS);
  }
}

/** @param {number[]} times @param {number} since */
function summary(times, since) {
  const all = since === 0 ? times : [...times, performance.now() - since];
  const sorted = all.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { calls: times.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

process.on('message', () => {
  process.send?.({ kept: summary(kept, waiting.kept), fresh: summary(fresh, waiting.fresh), failures });
  kept = [];
  fresh = [];
  failures = {};
});
process.once('disconnect', () => process.exit());
void keep();
void probe();
