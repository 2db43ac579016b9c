/**
 * What samples and shadows cost: CPU time of the service for an evaluation over gRPC with 10 controls, without a sampling rule or
 * shadow, with a rule that keeps 1 % of the steps, with one for another agent, and with a shadow of one of the controls. Every
 * service is a process of its own; rounds alternate, in both directions in turn, and ratios are medians over rounds, of which
 * half are between the quartiles that are printed. `BENCH_SCALE` multiplies the calls of a round, `BENCH_ROUNDS` is the number of
 * rounds. `BENCH_BEFORE` is the folder of another built checkout, such as one without samples, whose service is measured beside
 * this one.
 */
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { STREAMS_IN_ALL, unaryLoad } from './support/grpc-load.mjs';
import { controlData, unaryMessage } from './support/grpc-messages.mjs';
import { createSeries, rowOf } from './support/measure.mjs';
import { quantile, report } from './support/report.mjs';
import { startService } from './support/service-server.mjs';

/** @import { MeasuredServer } from './support/service-server.mjs' */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const BEFORE = process.env.BENCH_BEFORE;
const CONTROLS = 10;
const CALLS = Math.ceil((8_000 * SCALE) / STREAMS_IN_ALL) * STREAMS_IN_ALL;
const RPC = '/enforcement.v1.EvaluationService/Evaluate';

/** Otherwise calls fail while other work makes the machine late. */
const ENVIRONMENT = { SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0' };

/** @param {string} method @param {string} path @param {object} body @returns {Promise<MeasuredServer>} */
async function startedWith(method, path, body) {
  const service = await startService(ENVIRONMENT, [CONTROLS]);
  await createCaller(service.url, undefined)(method, path, body);
  return service;
}

/** @type {Record<string, MeasuredServer>} */
const services = { off: await startService(ENVIRONMENT, [CONTROLS]) };
if (BEFORE !== undefined) {
  const other = await import(
    pathToFileURL(resolve(join(BEFORE, 'bench', 'support', 'service-server.mjs'))).href
  );
  services.before = await other.startService(ENVIRONMENT, [CONTROLS]);
}
services['other agent'] = await startedWith('POST', '/sampling-rules', {
  share: 1,
  agent_name: 'no-agent-01',
});
services['1 % kept'] = await startedWith('POST', '/sampling-rules', { share: 0.01 });
services['a shadow'] = await startedWith('PUT', '/controls/1/shadow', { data: controlData(CONTROLS) });

const found = createSeries();
const message = unaryMessage(CONTROLS);
try {
  for (let round = -1; round < ROUNDS; round += 1) {
    const inOrder = Object.entries(services);
    for (const [name, service] of round % 2 === 0 ? inOrder : inOrder.toReversed()) {
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
const yardstick = BEFORE === undefined ? 'off' : 'before';
const figures = found.of(yardstick);
for (const name of Object.keys(services)) {
  const ratios = found.of(name).map((value, round) => value / (figures[round] ?? Number.NaN));
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)];
  console.log(
    `${name}: ${low.toFixed(3)} to ${high.toFixed(3)} times ${yardstick}, half of ${ROUNDS} rounds`,
  );
}
report(
  'samples',
  Object.keys(services).map((name) => rowOf(name, 'server CPU µs per evaluation', found.of(name), figures)),
);
