/**
 * What a replay costs: samples of ten agents with 10 controls each, stored in the database of a service, evaluated with the
 * controls as they are and with one of them changed, and beside it the evaluation of the same steps alone, twice, in this
 * process. `BENCH_SCALE` multiplies the 100,000 samples.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSealing } from '../dist/src/contract/secrets/sealing.js';
import { sealedContent } from '../dist/src/observe/samples/sample-content.js';
import { insertSamples } from '../dist/src/observe/samples/sample-store.js';
import { openDatabase } from '../dist/src/storage/database/database.js';
import { createCaller } from '../scripts/demo-data/load.mjs';
import { startServiceProcess } from '../scripts/start-service.mjs';
import { programOf, verdictOf } from './support/core-programs.mjs';
import { controlData } from './support/grpc-messages.mjs';
import { report, singleRow } from './support/report.mjs';
import { metricOf } from './support/service-metrics.mjs';

const SAMPLES = Math.ceil(100_000 * Number(process.env.BENCH_SCALE ?? 1));
const AGENTS = 10;
const CONTROLS = 10;
const MB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'replay-'));
const url = `file:${join(folder, 'service.db')}`;
const service = await startServiceProcess({ DATABASE_URL: url });
const sealing = createSealing(null);

/** @param {number} index */
const stepOf = (index) => ({
  type: 'tool',
  name: 'send_email',
  input: {
    to: 'someone@example.org',
    text: `message ${index} ${'with some words of a customer '.repeat(20)}`,
  },
  output: null,
  context: { user: `u-${index % 1_000}` },
});

/** @param {number} ruleId */
async function fill(ruleId) {
  const database = await openDatabase({ url });
  const nowMs = Date.now();
  for (let from = 0; from < SAMPLES; from += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, SAMPLES - from) }, (_, at) => {
      const index = from + at;
      const of = { namespace: 'default', decisionId: `decision-${String(index).padStart(9, '0')}` };
      const content = { step: stepOf(index), sessionId: null, target: null, accepts: null };
      return {
        ...of,
        ruleId,
        agentName: `bench-agent-${index % AGENTS}`,
        stage: 'pre',
        stepType: 'tool',
        stepName: 'send_email',
        outcome: 'allow',
        takenAtMs: nowMs - index,
        expiresAtMs: nowMs + 86_400_000,
        maskedValues: 0,
        content: sealedContent(sealing, of, content),
      };
    });
    await insertSamples(database, rows);
  }
  await database.close();
}

try {
  const call = createCaller(service.url, undefined);
  const data = Array.from({ length: CONTROLS }, (_, index) => controlData(index));
  const ids = [];
  for (const [index, one] of data.entries()) {
    ids.push((await call('PUT', '/controls', { name: `bench-control-${index}`, data: one })).control_id);
  }
  for (let agent = 0; agent < AGENTS; agent += 1) {
    await call('POST', '/agents/initAgent', { agent: { agent_name: `bench-agent-${agent}` } });
    for (const id of ids) await call('POST', `/agents/bench-agent-${agent}/controls/${id}`);
  }
  const { rule } = await call('POST', '/sampling-rules', { agent_name: 'no-agent-01' });
  await fill(rule.rule_id);

  const changed = {
    ...controlData(0),
    condition: { ...controlData(0).condition, selector: { path: 'input' } },
  };
  const begun = performance.now();
  const reply = await fetch(`${service.url}/api/v1/samples/replay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      documents: [{ kind: 'Control', name: 'bench-control-0', data: changed }],
      max_samples: SAMPLES,
    }),
  });
  const lines = (await reply.text()).trim().split('\n');
  const seconds = (performance.now() - begun) / 1_000;
  const { summary } = JSON.parse(lines.at(-1) ?? '{}');
  if (summary?.samples !== SAMPLES)
    throw new Error(`${summary?.samples} samples were evaluated: ${lines.at(-1)}`);
  const memory = (await metricOf(service.url, 'process_resident_memory_bytes')) / MB;

  const programs = [data, [changed, ...data.slice(1)]].map((all) =>
    programOf(all.map((one) => JSON.stringify(one))),
  );
  const steps = Array.from({ length: SAMPLES }, (_, index) => stepOf(index));
  const plainBegun = performance.now();
  for (const step of steps) for (const program of programs) verdictOf(program, step, 'verdict');
  const plain = (performance.now() - plainBegun) / 1_000;
  const perSample = (seconds * 1e6) / SAMPLES;
  report('replay', [
    singleRow('replay', perSample, 'µs per sample', (plain * 1e6) / SAMPLES),
    singleRow('replay in all', seconds, 's'),
    singleRow('memory of the service', memory, 'MB'),
  ]);
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
