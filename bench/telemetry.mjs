/**
 * What telemetry costs: CPU time of the service for an evaluation over gRPC with 10 controls, without telemetry, with 1 %
 * of the evaluations sampled, and with all of them, which are encoded and sent to a receiver in this process. Unary calls,
 * and single evaluations in streams, where nothing else of a call hides the difference. Every service is a process of its own;
 * rounds alternate, ratios and differences are medians over rounds.
 * `BENCH_SCALE` multiplies the calls of a round, `BENCH_ROUNDS` is the number of rounds. `BENCH_BEFORE` is the folder of
 * another built checkout, whose service is measured beside this one.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { urlOf } from './support/child-server.mjs';
import { STREAMS_IN_ALL, streamLoad, unaryLoad } from './support/grpc-load.mjs';
import { streamMessage, unaryMessage } from './support/grpc-messages.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { median, report } from './support/report.mjs';
import { startService } from './support/service-server.mjs';

/**
 * @import { Row } from './support/report.mjs'
 * @import { MeasuredServer } from './support/service-server.mjs'
 */

/** @typedef {(url: string, count: number) => Promise<Buffer>} Load */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const BEFORE = process.env.BENCH_BEFORE;
const CONTROLS = 10;
const SERVICE = '/enforcement.v1.EvaluationService';

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
/** @param {string} ratio */
const traced = (ratio) => ({
  SERVICE_OTLP_ENDPOINT: urlOf(receiver),
  SERVICE_OTLP_SAMPLE_RATIO: ratio,
});

/** @type {Record<string, MeasuredServer>} */
const services = { off: await startService({}, [CONTROLS]) };
if (BEFORE !== undefined) {
  const other = await import(
    pathToFileURL(resolve(join(BEFORE, 'bench', 'support', 'service-server.mjs'))).href
  );
  services.before = await other.startService({}, [CONTROLS]);
}
services['1 % sampled'] = await startService(traced('0.01'), [CONTROLS]);
services['all sampled'] = await startService(traced('1'), [CONTROLS]);

const unary = unaryMessage(CONTROLS);
const message = streamMessage(CONTROLS, 1);
/** @type {Record<string, { count: number, load: Load }>} */
const KINDS = {
  unary: { count: 8_000, load: (url, count) => unaryLoad(url, `${SERVICE}/Evaluate`, unary, count) },
  'stream singles': {
    count: 32_000,
    load: (url, count) => streamLoad(url, `${SERVICE}/EvaluateStream`, message, count),
  },
};

/** @type {Row[]} */
const rows = [];
try {
  for (const [kind, { count, load }] of Object.entries(KINDS)) {
    const calls = Math.ceil((count * SCALE) / STREAMS_IN_ALL) * STREAMS_IN_ALL;
    const found = createSeries();
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [name, service] of Object.entries(services)) {
        const cpu = await cpuOf(service, load, calls);
        // The first round only warms up.
        if (round >= 0) found.add(name, cpu);
      }
    }
    const off = found.of('off');
    for (const name of Object.keys(services)) {
      const cpus = found.of(name);
      rows.push(rowOf(`${kind} ${name}`, 'server CPU µs per evaluation', cpus, off));
      if (name === 'off') continue;
      const more = cpus.map((cpu, round) => cpu - (off[round] ?? Number.NaN));
      rows.push({ name: `${kind} ${name} - off`, value: median(more), unit: 'µs more than without' });
    }
  }
} finally {
  await Promise.all(Object.values(services).map((service) => service.stop()));
  receiver.close();
  receiver.closeAllConnections();
}
report('telemetry', rows);

/**
 * Microseconds for one call.
 * @param {MeasuredServer} service
 * @param {Load} load
 * @param {number} calls
 */
async function cpuOf(service, load, calls) {
  const before = await service.cpuSeconds();
  await load(service.url, calls);
  return (((await service.cpuSeconds()) - before) * 1e6) / calls;
}
