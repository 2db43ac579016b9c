/**
 * What telemetry costs: CPU time of the service for an evaluation over gRPC with 10 controls, without telemetry, with 1 %
 * of the evaluations sampled, and with all of them, which are encoded and sent to a receiver in this process. Unary calls,
 * and single evaluations in streams, where nothing else of a call hides the difference. Every service is a process of its own;
 * rounds alternate, ratios and differences are medians over rounds.
 * `BENCH_SCALE` multiplies the calls of a round, `BENCH_ROUNDS` is the number of rounds. `BENCH_BEFORE` is the folder of
 * another built checkout, whose service is measured beside this one.
 */
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { STREAMS_IN_ALL, streamLoad, unaryLoad } from './support/grpc-load.mjs';
import { streamMessage, unaryMessage } from './support/grpc-messages.mjs';
import { rowOf } from './support/measure.mjs';
import { median, report } from './support/report.mjs';
import { startService } from './support/service-server.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const BEFORE = process.env.BENCH_BEFORE;
const CONTROLS = 10;
const SERVICE = '/enforcement.v1.EvaluationService';

const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.end());
});
await new Promise((listening) => receiver.listen(0, '127.0.0.1', listening));
const traced = (ratio) => ({
  SERVICE_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.address().port}`,
  SERVICE_OTLP_SAMPLE_RATIO: ratio,
});

const services = { off: await startService({}) };
if (BEFORE !== undefined) {
  const other = await import(
    pathToFileURL(resolve(join(BEFORE, 'bench', 'support', 'service-server.mjs'))).href
  );
  services.before = await other.startService({});
}
services['1 % sampled'] = await startService(traced('0.01'));
services['all sampled'] = await startService(traced('1'));

const unary = unaryMessage(CONTROLS);
const message = streamMessage(CONTROLS, 1);
const KINDS = {
  unary: { count: 8_000, load: (url, count) => unaryLoad(url, `${SERVICE}/Evaluate`, unary, count) },
  'stream singles': {
    count: 32_000,
    load: (url, count) => streamLoad(url, `${SERVICE}/EvaluateStream`, message, count),
  },
};

const rows = [];
try {
  for (const [kind, { count, load }] of Object.entries(KINDS)) {
    const calls = Math.ceil((count * SCALE) / STREAMS_IN_ALL) * STREAMS_IN_ALL;
    const found = new Map(Object.keys(services).map((name) => [name, []]));
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [name, service] of Object.entries(services)) {
        const cpu = await cpuOf(service, load, calls);
        // The first round only warms up.
        if (round >= 0) found.get(name).push(cpu);
      }
    }
    const off = found.get('off');
    for (const [name, cpus] of found) {
      rows.push(rowOf(`${kind} ${name}`, 'server CPU µs per evaluation', cpus, off));
      if (name === 'off') continue;
      const more = cpus.map((cpu, round) => cpu - off[round]);
      rows.push({ name: `${kind} ${name} - off`, value: median(more), unit: 'µs more than without' });
    }
  }
} finally {
  await Promise.all(Object.values(services).map((service) => service.stop()));
  receiver.close();
  receiver.closeAllConnections();
}
report('telemetry', rows);

/** Microseconds for one call. */
async function cpuOf(service, load, calls) {
  const before = await service.cpuSeconds();
  await load(service.url, calls);
  return (((await service.cpuSeconds()) - before) * 1e6) / calls;
}
