/**
 * What the transports cost: CPU of the server for 10,000 evaluations, and throughput, against the bare HTTP/2 stack
 * of Node.js that answers with the same bytes. Unary calls, a stream of single evaluations, and a stream of batches,
 * each with 0, 10 and 100 applicable controls and a step of about 600 bytes; REST, gRPC-Web and Connect over HTTP/1.1
 * against bare node:http.
 * Beside the service stand the same without its lanes (`plain-connect`) and @grpc/grpc-js with the same core. Every
 * server is a process of its own, the load generator is this one; its share of a core is in the table. Rounds
 * alternate, ratios are medians over rounds.
 * `BENCH_SCALE` multiplies the calls of a round, `BENCH_ROUNDS` is the number of rounds, `BENCH_CONTROLS` lists the
 * numbers of controls, `BENCH_ONLY` is a part of the names of the rows to measure.
 */
import { startChild } from './support/child-server.mjs';
import { STREAMS_IN_ALL, streamLoad, unaryLoad } from './support/grpc-load.mjs';
import {
  BATCH,
  CONTROLS,
  restBody,
  streamMessage,
  unaryMessage,
  webBodies,
} from './support/grpc-messages.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { median, report } from './support/report.mjs';
import { restLoad } from './support/rest-load.mjs';
import { startService } from './support/service-server.mjs';

/**
 * @import { Row } from './support/report.mjs'
 * @import { MeasuredServer } from './support/service-server.mjs'
 */

/** @typedef {(url: string, count: number) => Promise<Buffer>} Load */
/** @typedef {keyof typeof servers} ServerName */
/**
 * `size` is the number of evaluations in each of the `count` calls or messages of a round.
 * @typedef {{
 *   kind: string, raw: typeof rawHttp2, against: readonly ServerName[], count: number, size: number,
 *   loadOf: (controls: number) => Load,
 * }} Kind
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const ONLY = process.env.BENCH_ONLY ?? '';
const SERVICE = '/enforcement.v1.EvaluationService';
const STREAM = `${SERVICE}/EvaluateStream`;
const CPU = 'server CPU s per 10,000 evaluations';

const servers = {
  service: await startService({}),
  'plain-connect': await startService({ SERVICE_GRPC_LANE: 'false', SERVICE_WEB_LANE: 'false' }),
  'grpc-js': await startChild('grpc-js-server.mjs'),
};
const rawHttp2 = await startChild('raw-http2.mjs');
const rawHttp1 = await startChild('raw-http1.mjs');
/** @type {readonly ServerName[]} */
const GRPC = ['service', 'plain-connect', 'grpc-js'];

/** @type {readonly Kind[]} */
const KINDS = [
  {
    kind: 'unary',
    raw: rawHttp2,
    against: GRPC,
    count: 6_000,
    size: 1,
    loadOf: (controls) => loadOf(unaryLoad, `${SERVICE}/Evaluate`, unaryMessage(controls)),
  },
  {
    kind: 'stream singles',
    raw: rawHttp2,
    against: GRPC,
    count: 24_000,
    size: 1,
    loadOf: (controls) => loadOf(streamLoad, STREAM, streamMessage(controls, 1)),
  },
  {
    kind: `stream batches of ${BATCH}`,
    raw: rawHttp2,
    against: GRPC,
    count: 1_600,
    size: BATCH,
    loadOf: (controls) => loadOf(streamLoad, STREAM, streamMessage(controls, BATCH)),
  },
  {
    kind: 'rest',
    raw: rawHttp1,
    against: ['service'],
    count: 8_000,
    size: 1,
    loadOf: (controls) => loadOf(restLoad, '/api/v1/evaluation', restBody(controls)),
  },
  web('grpc-web', 'application/grpc-web+proto'),
  web('connect proto', 'application/proto'),
  web('connect json', 'application/json'),
];

/**
 * Unary calls over HTTP/1.1.
 * @param {string} kind
 * @param {keyof ReturnType<typeof webBodies>} type
 * @returns {Kind}
 */
function web(kind, type) {
  return {
    kind,
    raw: rawHttp1,
    against: ['service', 'plain-connect'],
    count: 8_000,
    size: 1,
    loadOf(controls) {
      const body = webBodies(controls)[type];
      return (url, count) => restLoad(url, `${SERVICE}/Evaluate`, body, count, undefined, type);
    },
  };
}

/** @type {Row[]} */
const rows = [];
try {
  for (const kind of KINDS) {
    for (const controls of CONTROLS) {
      const name = `${kind.kind} ${controls} controls`;
      if (name.includes(ONLY)) rows.push(...(await measure(kind, controls, name)));
    }
  }
} finally {
  await Promise.all([...Object.values(servers), rawHttp2, rawHttp1].map((server) => server.stop()));
}
report('grpc', rows);

/**
 * @param {Kind} kind
 * @param {number} controls
 * @param {string} name
 */
async function measure({ raw, against, count, size, loadOf }, controls, name) {
  const load = loadOf(controls);
  // What is counted has to be what is sent, and streams send equal parts.
  /** @param {number} wanted */
  const whole = (wanted) => Math.ceil(wanted / STREAMS_IN_ALL) * STREAMS_IN_ALL;
  const calls = whole((count * SCALE) / (controls === 100 ? 4 : 1));
  // Slow ones are measured on fewer calls.
  /** @param {ServerName} server */
  const callsOf = (server) => (server === 'plain-connect' ? whole(calls / 4) : calls);
  for (const server of against) {
    const reply = await load(servers[server].url, callsOf(server));
    if (server === 'service') await raw.answerWith(reply);
  }
  await load(raw.url, calls);
  /** @type {ReturnType<typeof createSeries<Awaited<ReturnType<typeof measured>>>>} */
  const found = createSeries();
  for (let round = 0; round < ROUNDS; round += 1) {
    found.add('raw', await measured(raw, load, calls, size));
    for (const server of against) {
      found.add(server, await measured(servers[server], load, callsOf(server), size));
    }
  }
  /** @param {ServerName | 'raw'} server @param {'cpu' | 'rate' | 'loadShare'} figure */
  const figures = (server, figure) => found.of(server).map((one) => one[figure]);
  const made = against.flatMap((server) => [
    rowOf(`${server} ${name}`, CPU, figures(server, 'cpu'), figures('raw', 'cpu')),
    rowOf(`${server} ${name} rate`, 'evaluations/s', figures(server, 'rate'), figures('raw', 'rate')),
  ]);
  const perCore = figures('service', 'cpu').map((cpu) => 10_000 / cpu);
  made.push(rowOf(`service ${name} per core`, 'evaluations per server CPU s', perCore));
  const share = median(figures('service', 'loadShare'));
  const rawShare = median(figures('raw', 'loadShare'));
  made.push({
    name: `load generator ${name}`,
    value: share,
    yardstick: rawShare,
    unit: 'share of a core, loading the service and raw',
  });
  return made;
}

/**
 * @param {MeasuredServer} server
 * @param {Load} load
 * @param {number} calls
 * @param {number} size
 */
async function measured(server, load, calls, size) {
  const before = await server.cpuSeconds();
  const ownBefore = process.cpuUsage();
  const start = performance.now();
  await load(server.url, calls);
  const seconds = (performance.now() - start) / 1000;
  const own = process.cpuUsage(ownBefore);
  const cpu = (await server.cpuSeconds()) - before;
  const evaluations = calls * size;
  return {
    cpu: (cpu * 10_000) / evaluations,
    rate: evaluations / seconds,
    loadShare: (own.user + own.system) / 1e6 / seconds,
  };
}

/**
 * @template M
 * @param {(url: string, path: string, message: M, count: number) => Promise<Buffer>} load
 * @param {string} path
 * @param {M} message
 * @returns {Load}
 */
function loadOf(load, path, message) {
  return (url, count) => load(url, path, message, count);
}
