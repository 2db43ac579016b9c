import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type RestClient, restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { denyWord, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { createSoakTraffic, SOAK_KINDS, type SoakKind, type SoakTraffic } from './soak-traffic.js';

const AGENT = 'soaked-agent-1';
const SECONDS = Number(process.env.SOAK_SECONDS ?? '600');
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
/** How often the heap is looked at, each time after a collection. */
const COLLECTIONS = 20;
/** How long the service rests before its heap at rest is looked at: the events it records are written by then. */
const REST_MS = 12_000;
/** What the resident memory may grow in the second half, by the line through it. */
const FLAT_RESIDENT_MIB = 64;
/**
 * What the heap at rest may grow from before the soak to after it: some caches, and this much for each call. Whatever
 * leaks an object for each call leaks more. Under load it also holds what runs, which is no leak.
 */
const FLAT_HEAP_MIB = 8;
const FLAT_HEAP_BYTES_PER_CALL = 20;
/** Part of what the test can ask for at most that it asks for. */
const TEST_LOAD = 0.85;

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

/** What the service tells of its process. */
async function processFacts(call: RestClient) {
  const samples = parseMetrics((await call('GET', '/metrics')).body);
  const of = (name: string) => metric(samples, `control_enforcement_server_${name}`);
  return {
    residentMib: of('process_resident_memory_bytes') / MIB,
    cpuSeconds: of('process_cpu_seconds_total'),
  };
}
type ProcessFacts = Awaited<ReturnType<typeof processFacts>>;

/** What is left in the heap of the service after a collection, each time, in MiB. */
async function collections({ directory }: ServiceProcess): Promise<number[]> {
  const report = await readFile(path.join(directory, 'heap.txt'), 'utf8').catch(() => '');
  return report
    .split('\n')
    .filter((line) => line !== '')
    .map((bytes) => Number(bytes) / MIB);
}

/** The same when the service has had nothing to do for a while. */
async function heapAtRest(service: ServiceProcess): Promise<number> {
  await pause(REST_MS);
  const { length } = await collections(service);
  service.process.kill('SIGUSR2');
  const all = await until(
    () => collections(service),
    (found) => found.length > length,
  );
  return all.at(-1) ?? 0;
}

/** Runs something and gives the share of one core that the service took meanwhile. */
async function withCpuShare<T>(call: RestClient, run: () => Promise<T>): Promise<[T, number]> {
  const [before, start] = [(await processFacts(call)).cpuSeconds, performance.now()];
  const result = await run();
  const seconds = (performance.now() - start) / 1000;
  return [result, ((await processFacts(call)).cpuSeconds - before) / seconds];
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

const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;
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

/** How much the line through the second half of the values rises from its begin to its end (least squares). */
function growth(values: readonly number[]): number {
  const half = values.slice(Math.floor(values.length / 2));
  const middle = (half.length - 1) / 2;
  const average = mean(half);
  let above = 0;
  let below = 0;
  half.forEach((value, index) => {
    above += (index - middle) * (value - average);
    below += (index - middle) ** 2;
  });
  return below === 0 ? 0 : (above / below) * (half.length - 1);
}

it(`${SECONDS} s at ${LOAD * 100} % of capacity: no error, no verdict that contradicts its revision, flat memory`, {
  timeout: (SECONDS + CAPACITY_SECONDS + 180) * 1000,
}, async () => {
  const service = await spawnService(compiled, {
    environment: {
      SERVICE_LOG_JSON: 'true',
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'collect-on-signal.mjs')}`,
      HEAP_REPORT: 'heap.txt',
    },
  });
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
    const [measured, measuredShare] = await withCpuShare(call, () => capacityOf(traffic, warm));
    expect(warm.errors).toEqual([]);
    // What one core of the service would do if the test kept it busy.
    const capacity = measured / Math.min(1, measuredShare);
    const rate = Math.min(capacity * LOAD, measured * TEST_LOAD);

    const restingBefore = await heapAtRest(service);
    const ledger = createLedger();
    const end = performance.now() + SECONDS * 1000;
    const goOn = () => performance.now() < end;
    const facts: ProcessFacts[] = [];
    const collectGarbage = async () => {
      for (; goOn(); await pause((SECONDS * 1000) / COLLECTIONS)) service.process.kill('SIGUSR2');
    };
    const watchMemory = async () => {
      for (; goOn(); await pause(1000)) facts.push(await processFacts(call));
    };
    const [[skipped], share] = await withCpuShare(call, () =>
      Promise.all([
        soak(traffic, ledger, rate, end),
        keepChanging(call, control, history, goOn),
        watchMemory(),
        collectGarbage(),
      ]),
    );
    const heap = (await collections(service)).slice(1);
    const restingAfter = await heapAtRest(service);
    traffic.close();

    const resident = facts.map(({ residentMib }) => residentMib);
    const grown = { resident: growth(resident), heap: growth(heap) };
    const times = [...ledger.times].map(([kind, of]) => {
      const [p50, p99, most] = [of.percentile(50), of.percentile(99), of.max].map((us) => us / 1000);
      return `${kind}: ${p50?.toFixed(1)} ms, 99 % ${p99?.toFixed(1)}, longest ${most?.toFixed(1)}, ${of.count} calls`;
    });
    const calls = [...ledger.times.values()].reduce((sum, { count }) => sum + count, 0);
    const shown = (values: readonly number[]) => values.map((mib) => mib.toFixed(0)).join(' ');
    const everyMinute = resident.filter((_, second) => second % 60 === 0);
    console.log(
      [
        `soak: ${measured.toFixed(0)} calls/s with ${percent(measuredShare)} of a core of the service, so ` +
          `${capacity.toFixed(0)} on one; run at ${rate.toFixed(0)}, ${percent(rate / capacity)} of that, ` +
          `with ${percent(share)} of a core`,
        `${ledger.evaluations()} evaluations, ${history.length - 1} changes, ${skipped} calls not made in time`,
        ...times,
        `resident memory, each minute: ${shown(everyMinute)} MiB; the second half rises by ${grown.resident.toFixed(1)}`,
        `heap under load: ${shown(heap)} MiB; the second half rises by ${grown.heap.toFixed(1)}`,
        `heap at rest: ${restingBefore.toFixed(1)} MiB before, ${restingAfter.toFixed(1)} after`,
      ].join('\n  '),
    );
    expect(ledger.errors).toEqual([]);
    expect(contradictions(ledger, history)).toEqual([]);
    expect(new Set([...ledger.verdicts.keys()].map((key) => key.split(' ')[0])).size).toBeGreaterThan(1);
    for (const { count } of ledger.times.values()) expect(count).toBeGreaterThan(0);
    expect(grown.resident).toBeLessThan(FLAT_RESIDENT_MIB);
    const allowed = FLAT_HEAP_MIB + (FLAT_HEAP_BYTES_PER_CALL * calls) / MIB;
    expect(restingAfter - restingBefore).toBeLessThan(allowed);
  } finally {
    await service.dispose();
  }
});
