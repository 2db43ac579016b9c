/**
 * What samples cost: CPU time of the service for an evaluation over gRPC with 10 controls, without a sampling rule, with one that
 * keeps 1 % of the steps, and with one for another agent. Every service is a process of its own; rounds alternate, ratios are
 * medians over rounds. `BENCH_SCALE` multiplies the calls of a round, `BENCH_ROUNDS` is the number of rounds. `BENCH_BEFORE` is
 * the folder of another built checkout, such as one without samples, whose service is measured beside this one.
 */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { STREAMS_IN_ALL, unaryLoad } from './support/grpc-load.mjs';
import { unaryMessage } from './support/grpc-messages.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { report } from './support/report.mjs';
import { startService } from './support/service-server.mjs';

/** @import { MeasuredServer } from './support/service-server.mjs' */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const BEFORE = process.env.BENCH_BEFORE;
const CONTROLS = 10;
const CALLS = Math.ceil((8_000 * SCALE) / STREAMS_IN_ALL) * STREAMS_IN_ALL;
const RPC = '/enforcement.v1.EvaluationService/Evaluate';

/** @param {object} rule @returns {Promise<MeasuredServer>} */
async function withRule(rule) {
  const service = await startService({}, [CONTROLS]);
  await createCaller(service.url, undefined)('POST', '/sampling-rules', rule);
  return service;
}

/** @type {Record<string, MeasuredServer>} */
const services = { off: await startService({}, [CONTROLS]) };
if (BEFORE !== undefined) {
  const other = await import(
    pathToFileURL(resolve(join(BEFORE, 'bench', 'support', 'service-server.mjs'))).href
  );
  services.before = await other.startService({}, [CONTROLS]);
}
services['other agent'] = await withRule({ share: 1, agent_name: 'no-agent-01' });
services['1 % kept'] = await withRule({ share: 0.01 });

const found = createSeries();
const message = unaryMessage(CONTROLS);
try {
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [name, service] of Object.entries(services)) {
      const before = await service.cpuSeconds();
      await unaryLoad(service.url, RPC, message, CALLS);
      const cpu = (((await service.cpuSeconds()) - before) * 1e6) / CALLS;
      // The first round only warms up.
      if (round >= 0) found.add(name, cpu);
    }
  }
} finally {
  await Promise.all(Object.values(services).map((service) => service.stop()));
}
const off = found.of('off');
report(
  'samples',
  Object.keys(services).map((name) => rowOf(name, 'server CPU µs per evaluation', found.of(name), off)),
);
