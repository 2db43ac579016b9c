import path from 'node:path';
import { expect, it } from 'vitest';
import { json, openModel } from '../kernel/evaluators/vendor-model/model-server.js';
import { restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, spawnService } from '../support/service-process.js';

const SECONDS = Number(process.env.VERIFY_SECONDS ?? '30');
/** Quiet and disturbed rounds take turns, so that a busy machine disturbs both. */
const ROUNDS = 3;
const MARGIN_MS = 120_000;
const MODEL_LATENCY_MS = 10_000;
const CLIENTS = 4;
/** A client asks this often at most, in milliseconds: latency is wanted, not saturation. */
const PACE_MS = 5;
const STUCK_STEPS = 20;

const UNRULY = path.resolve(import.meta.dirname, '../kernel/evaluators/custom/modules/unruly.mjs');

it(`an agent with a slow model and an endless loop costs another agent little, for ${SECONDS} s`, {
  timeout: SECONDS * 1000 + MARGIN_MS,
}, async () => {
  const model = await openModel((response, request) => {
    setTimeout(() => json({ score: 0 })(response, request), MODEL_LATENCY_MS);
  });
  const service = await spawnService(compiled, {
    environment: {
      SERVICE_EVALUATORS: UNRULY,
      SERVICE_LOG_JSON: 'true',
      SERVICE_OBSERVABILITY_ENABLED: 'false',
      TIME_LIMIT: '1000',
      VENDOR_API_URL: model.url,
      VENDOR_API_KEY: 'key',
    },
  });
  try {
    const url = await service.listening();
    const call = restClient(url);
    const seed = seeder(call);
    await seed.agent('lively-agent');
    for (let index = 0; index < 10; index += 1) {
      await seed.link('lively-agent', await seed.control(`lively-${index}`, denyWord(`forbidden${index}`)));
    }
    await seed.agent('stuck-agent');
    for (const [index, evaluator] of [
      { name: 'unruly', config: {} },
      {
        name: 'vendor.model',
        config: { metric: 'tone', operator: 'gt', target_value: 0.5, timeout_ms: 20_000 },
      },
    ].entries()) {
      const condition = { selector: { path: 'input' }, evaluator };
      await seed.link('stuck-agent', await seed.control(`stuck-${index}`, denyWord('', { condition })));
    }

    let answered = 0;
    /** Latencies of the lively agent until `end`, in milliseconds. */
    const measure = async (end: number): Promise<number[]> => {
      const latencies: number[] = [];
      const client = async (): Promise<void> => {
        while (performance.now() < end) {
          const start = performance.now();
          const reply = await evaluate(call, 'lively-agent', 'a harmless text');
          latencies.push(performance.now() - start);
          expect(reply.body.is_safe).toBe(true);
          await new Promise((resolve) => setTimeout(resolve, PACE_MS));
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      return latencies;
    };
    const disturb = async (end: number): Promise<void> => {
      const client = async (): Promise<void> => {
        while (performance.now() < end) {
          const { body } = await evaluate(call, 'stuck-agent', { do: 'loop' });
          expect(body.is_safe).toBe(false);
          answered += 1;
        }
      };
      await Promise.all(Array.from({ length: STUCK_STEPS }, client));
    };

    const roundMs = (SECONDS * 1000) / ROUNDS / 2;
    const quiet: number[] = [];
    const disturbed: number[] = [];
    await measure(performance.now() + 1_000);
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet.push(...(await measure(performance.now() + roundMs)));
      const end = performance.now() + roundMs;
      const [latencies] = await Promise.all([measure(end), disturb(end)]);
      disturbed.push(...latencies);
    }
    const [before, during] = [percentiles(quiet), percentiles(disturbed)];
    console.log(`quiet:     ${quiet.length} evaluations, p50 ${before.p50} ms, p99 ${before.p99} ms`);
    console.log(`disturbed: ${disturbed.length} evaluations, p50 ${during.p50} ms, p99 ${during.p99} ms`);
    console.log(`p99 ratio ${(during.p99 / before.p99).toFixed(2)}, ${answered} stuck steps were answered`);
    expect(answered).toBeGreaterThan(0);
    expect(disturbed.length).toBeGreaterThan(0);
  } finally {
    await service.dispose();
    await model.stop();
  }
});

function percentiles(values: number[]): { p50: number; p99: number } {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(2));
  return { p50: at(0.5), p99: at(0.99) };
}
