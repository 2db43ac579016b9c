/**
 * Controls with CEL expressions against other engines with the same rules: in this process against casbin and cedar, and
 * over gRPC, by one call for each step and by a stream, against one call of Cerbos, a Go service whose conditions are CEL (`support/cerbos-server.mjs`
 * says how to install it; without it that part is left out, and said so). CPU time only: of this process, or of the server.
 * Rounds alternate, ratios are medians over rounds.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { Stage } from '../dist/gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  EvaluateStreamRequestSchema,
} from '../dist/gen/proto/enforcement/v1/evaluation_service_pb.js';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { casbinCelOf, cedarCelOf, celRules, controlOf, STEP } from './support/cel-rules.mjs';
import { CHECK, cerbosProgram, checkMessage, startCerbos } from './support/cerbos-server.mjs';
import { programOf, subjectOf } from './support/core-programs.mjs';
import { STREAMS_IN_ALL, streamLoad, unaryLoad } from './support/grpc-load.mjs';
import { createSeries, ratesOf, rowOf } from './support/measure.mjs';
import { report } from './support/report.mjs';
import { metricOf } from './support/service-metrics.mjs';

/** @import { Row } from './support/report.mjs' */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const BUDGET_MS = Number(process.env.BENCH_BUDGET_MS ?? 100);
/** Calls of a round. */
const CALLS = Number(process.env.BENCH_CALLS ?? 6_000);
const COUNTS = [10, 100];
const EVALUATE = '/enforcement.v1.EvaluationService/Evaluate';
const STREAM = `${EVALUATE}Stream`;
/** @type {Row[]} */
const rows = [];

/** @param {number} count */
async function compareEngines(count) {
  const rules = celRules(count);
  const program = programOf(rules.map((rule) => JSON.stringify(controlOf(rule))));
  const yardsticks = [await casbinCelOf(rules), cedarCelOf(rules)];
  const rates = await ratesOf({
    subjects: [subjectOf('core', program, 'verdict'), ...yardsticks],
    steps: [STEP],
    expected: true,
    rounds: ROUNDS,
    budgetMs: BUDGET_MS,
  });
  for (const { name } of yardsticks) {
    const row = `service core ${count} cel controls / ${name} ${count} rules`;
    rows.push(rowOf(row, 'evaluations per CPU s', rates('core'), rates(name)));
  }
}

/** @param {number} count */
async function startService(count) {
  const { url, stop } = await startServiceProcess({});
  const call = createCaller(url, undefined);
  const agent = `bench-agent-${count}-cel`;
  await call('POST', '/agents/initAgent', { agent: { agent_name: agent } });
  for (const [index, rule] of celRules(count).entries()) {
    const control = { name: `bench-cel-${index}`, data: controlOf(rule) };
    const { control_id: id } = await call('PUT', '/controls', control);
    await call('POST', `/agents/${agent}/controls/${id}`);
  }
  const request = create(EvaluateRequestSchema, {
    agentName: agent,
    stage: Stage.PRE,
    stepForm: { case: 'stepJson', value: Buffer.from(JSON.stringify(STEP)) },
  });
  const streamed = create(EvaluateStreamRequestSchema, { id: '1', evaluations: [request] });
  return {
    url,
    stop,
    unary: framed(toBinary(EvaluateRequestSchema, request)),
    streamed: framed(toBinary(EvaluateStreamRequestSchema, streamed)),
    cpuSeconds: () => metricOf(url, 'process_cpu_seconds_total'),
  };
}

/** A message of gRPC. @param {Uint8Array} body */
function framed(body) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

/** @param {number} count @param {string} program */
async function compareServers(count, program) {
  const service = await startService(count);
  const cerbos = await startCerbos(program, celRules(count));
  const check = checkMessage();
  const calls = Math.ceil(CALLS / STREAMS_IN_ALL) * STREAMS_IN_ALL;
  const loads = {
    unary: { server: service, load: () => unaryLoad(service.url, EVALUATE, service.unary, calls) },
    stream: { server: service, load: () => streamLoad(service.url, STREAM, service.streamed, calls) },
    cerbos: { server: cerbos, load: () => unaryLoad(cerbos.url, CHECK, check, calls) },
  };
  const cpu = createSeries();
  try {
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [name, { server, load }] of Object.entries(loads)) {
        const before = await server.cpuSeconds();
        await load();
        const used = (await server.cpuSeconds()) - before;
        if (round >= 0) cpu.add(name, (used * 1e6) / calls);
      }
    }
  } finally {
    await Promise.all([service.stop(), cerbos.stop()]);
  }
  for (const kind of ['unary', 'stream']) {
    const row = `service ${count} cel controls over gRPC, ${kind} / cerbos ${count} rules, unary`;
    rows.push(rowOf(row, 'server CPU µs per step', cpu.of(kind), cpu.of('cerbos')));
  }
}

for (const count of COUNTS) await compareEngines(count);
const program = cerbosProgram();
if (program === null) {
  console.log('cerbos is not installed, so nothing is compared with it (bench/support/cerbos-server.mjs)');
} else {
  for (const count of COUNTS) await compareServers(count, program);
}
report('cel', rows);
