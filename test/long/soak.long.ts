import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metric, parseMetrics } from '../support/prometheus.js';
import { type RestClient, restClient } from '../support/rest-client.js';
import { denyWord, seeder } from '../support/seed.js';
import { type CompiledService, compileService, spawnService } from '../support/service-process.js';
import { createSoakTraffic, SOAK_KINDS, type SoakKind, type SoakTraffic } from './soak-traffic.js';

const AGENT = 'soaked-agent-1';
const SECONDS = Number(process.env.SOAK_SECONDS ?? '60');
const CAPACITY_SECONDS = 5;
/** Part of the capacity that the soak asks for. */
const LOAD = 0.7;
/** Calls that run at the same time while the capacity is measured, of each kind. */
const CALLERS_PER_KIND = 16;
const BATCH_SIZE = 32;
/** How often calls are started, in milliseconds. */
const TICK_MS = 5;
/** Calls that may run at the same time; those that are due beyond are not made, and counted. */
const MAX_RUNNING = 500;
/** Words that the control denies by turns. */
const WORDS = ['alpha', 'beta'] as const;
const MIB = 1024 * 1024;
/** Growth from the second quarter to the last one that counts as flat: the garbage collector takes its time. */
const FLAT_MIB = 64;

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

/** What came of the calls: counts only, so that the test itself stays flat. */
function createLedger() {
  const verdicts = new Map<string, number>();
  const errors: string[] = [];
  const times = new Map<SoakKind, RecordableHistogram>(SOAK_KINDS.map((kind) => [kind, createHistogram()]));
  let evaluations = 0;
  return {
    verdicts,
    errors,
    times,
    evaluations: () => evaluations,
    async run(traffic: SoakTraffic, kind: SoakKind, input: string): Promise<void> {
      const start = performance.now();
      try {
        for (const { isSafe, revision } of await traffic.calls[kind](input)) {
          const key = `${revision} ${input} ${isSafe}`;
          verdicts.set(key, (verdicts.get(key) ?? 0) + 1);
          evaluations += 1;
        }
        times.get(kind)?.record(Math.max(1, Math.round((performance.now() - start) * 1000)));
      } catch (error) {
        if (errors.length < 20) errors.push(`${kind}: ${String(error)}`);
      }
    },
  };
}
type Ledger = ReturnType<typeof createLedger>;

/** Changes the control once a second, and keeps which word it denied from which revision on. */
async function keepChanging(
  call: RestClient,
  control: number,
  history: [number, string][],
  goOn: () => boolean,
) {
  for (let turn = 0; goOn(); turn += 1) {
    const word = WORDS[turn % 2] ?? 'alpha';
    const { status, headers } = await call('PUT', `/api/v1/controls/${control}/data`, {
      data: denyWord(word),
    });
    if (status !== 200) throw new Error(`a change was answered ${status}`);
    history.push([Number(headers.get('x-service-revision')), word]);
    await pause(1000);
  }
}

/** The verdicts that the control at their revision does not explain. */
function contradictions({ verdicts }: Ledger, history: readonly [number, string][]): string[] {
  return [...verdicts.keys()].filter((key) => {
    const [revision = '', input, isSafe] = key.split(' ');
    const word = history.findLast(([since]) => since <= Number(revision))?.[1];
    return isSafe !== String(word !== input);
  });
}

/** Calls a second, of all kinds together, when each caller goes on as soon as it is answered. */
async function capacityOf(traffic: SoakTraffic, ledger: Ledger): Promise<number> {
  const end = performance.now() + CAPACITY_SECONDS * 1000;
  let calls = 0;
  // Kinds by turns, so that the mix is the same as in the soak.
  const caller = async (start: number): Promise<void> => {
    for (let turn = start; performance.now() < end; turn += 1) {
      await ledger.run(traffic, kindOf(turn), inputOf(turn));
      calls += 1;
    }
  };
  await Promise.all(
    Array.from({ length: CALLERS_PER_KIND * SOAK_KINDS.length }, (_, index) => caller(index)),
  );
  return calls / CAPACITY_SECONDS;
}

const kindOf = (turn: number): SoakKind => SOAK_KINDS[turn % SOAK_KINDS.length] ?? 'unary';
const inputOf = (turn: number): string => WORDS[Math.floor(turn / SOAK_KINDS.length) % 2] ?? 'alpha';

async function soak(traffic: SoakTraffic, ledger: Ledger, rate: number, end: number): Promise<number> {
  const start = performance.now();
  const running = new Set<Promise<void>>();
  let started = 0;
  let skipped = 0;
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - start) / 1000) * rate);
    for (; started < due; started += 1) {
      if (running.size >= MAX_RUNNING) {
        skipped += 1;
        continue;
      }
      const call = ledger.run(traffic, kindOf(started), inputOf(started)).finally(() => running.delete(call));
      running.add(call);
    }
    await pause(TICK_MS);
  }
  await Promise.all(running);
  return skipped;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Slope of the line through values that are a second apart (least squares), per minute. */
function slopePerMinute(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const average = mean(values);
  let above = 0;
  let below = 0;
  values.forEach((value, index) => {
    above += (index - middle) * (value - average);
    below += (index - middle) ** 2;
  });
  return (above / below) * 60;
}

it(`${SECONDS} s at ${LOAD * 100} % of capacity: no error, no verdict that contradicts its revision, flat memory`, {
  timeout: (SECONDS + CAPACITY_SECONDS + 120) * 1000,
}, async () => {
  const service = await spawnService(compiled, { environment: { SERVICE_LOG_JSON: 'true' } });
  try {
    const url = await service.listening();
    const call = restClient(url);
    const seed = seeder(call);
    await seed.agent(AGENT);
    const control = await seed.control('soaked', denyWord('none'));
    await seed.link(AGENT, control);
    const history: [number, string][] = [[0, 'none']];
    const traffic = createSoakTraffic(url, AGENT, BATCH_SIZE);
    const warm = createLedger();
    const capacity = await capacityOf(traffic, warm);
    expect(warm.errors).toEqual([]);

    const ledger = createLedger();
    const end = performance.now() + SECONDS * 1000;
    const goOn = () => performance.now() < end;
    const memory: number[] = [];
    const watchMemory = async () => {
      for (; goOn(); await pause(1000)) {
        const samples = parseMetrics((await call('GET', '/metrics')).body);
        memory.push(metric(samples, 'control_enforcement_server_process_resident_memory_bytes') / MIB);
      }
    };
    const [skipped] = await Promise.all([
      soak(traffic, ledger, capacity * LOAD, end),
      keepChanging(call, control, history, goOn),
      watchMemory(),
    ]);
    traffic.close();

    const quarter = Math.floor(memory.length / 4);
    const [early, late] = [mean(memory.slice(quarter, 2 * quarter)), mean(memory.slice(-quarter))];
    const p99 = [...ledger.times].map(
      ([kind, times]) => `${kind} ${(times.percentile(99) / 1000).toFixed(1)} ms of ${times.count}`,
    );
    console.log(
      [
        `soak: capacity of service and test ${capacity.toFixed(0)} calls/s, run at ${(capacity * LOAD).toFixed(0)}`,
        `${ledger.evaluations()} evaluations, ${history.length - 1} changes, ${skipped} calls not made in time`,
        `99 %: ${p99.join(', ')}`,
        `memory: ${early.toFixed(0)} MiB in the second quarter, ${late.toFixed(0)} in the last, ` +
          `${slopePerMinute(memory.slice(quarter)).toFixed(2)} MiB a minute after the first`,
      ].join('\n  '),
    );
    expect(ledger.errors).toEqual([]);
    expect(contradictions(ledger, history)).toEqual([]);
    expect(new Set([...ledger.verdicts.keys()].map((key) => key.split(' ')[0])).size).toBeGreaterThan(1);
    for (const times of ledger.times.values()) expect(times.count).toBeGreaterThan(0);
    expect(late - early).toBeLessThan(FLAT_MIB);
  } finally {
    await service.dispose();
  }
});
