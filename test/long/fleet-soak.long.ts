import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';

const SECONDS = Number(process.env.SOAK_SECONDS ?? '600');
const AGENTS = 10_000;
const POLICIES = 20;
const CONTROLS = 10;
const CHANGES_PER_SECOND = 5;
const CALLERS = 8;
/** Evaluators that are kept without a program: the cache is full before memory is measured. */
const CACHED_EVALUATORS = 100;
/** How long the service rests before its heap is measured, in milliseconds. */
const REST_MS = 5_000;
/** How much the heap at rest may grow: caches. A program that is not freed after a change takes 20 kB or more. */
const FLAT_MIB = 8;

const nameOf = (index: number): string => `soaked-agent-${index}`;

/** Adds agents that have one of the policies each, which takes effect with the next change of everything. */
async function fillAgents(url: string, kind: string): Promise<void> {
  const series =
    kind === 'sqlite'
      ? `WITH RECURSIVE "n" ("i") AS (SELECT 1 UNION ALL SELECT "i" + 1 FROM "n" WHERE "i" < ${AGENTS}) SELECT "i" FROM "n"`
      : `SELECT generate_series(1, ${AGENTS}) AS "i"`;
  await executeSql(
    url,
    `INSERT INTO "agents" ("name", "data", "created_at_ms")
       SELECT 'soaked-agent-' || "i", '{"agent":{"agent_name":"soaked-agent-' || "i" || '"},"steps":[],"evaluators":[]}', 0
       FROM (${series}) AS "t";
     INSERT INTO "agent_policies" ("agent_id", "policy_id")
       SELECT "id", 1 + ("id" % ${POLICIES}) FROM "agents" WHERE "name" LIKE 'soaked-agent-%';`,
  );
}

/** The heap after a collection, in MiB, when the service has had nothing to do for a while. */
async function heapAtRest(service: ServiceProcess): Promise<number> {
  await pause(REST_MS);
  const report = async () =>
    (await readFile(path.join(service.directory, 'heap.txt'), 'utf8').catch(() => ''))
      .split('\n')
      .filter(Boolean);
  const { length } = await report();
  service.process.kill('SIGUSR2');
  const all = await until(report, (found) => found.length > length);
  return Number(all.at(-1)) / 1024 / 1024;
}

describeOnEachDatabase('A fleet', (freshDatabaseUrl, kind) => {
  it(`of ${AGENTS} agents takes no more memory after ${SECONDS} s of changes`, {
    timeout: (SECONDS + 300) * 1_000,
  }, async () => {
    const url = await freshDatabaseUrl();
    const service = await spawnService(compiled, {
      environment: {
        DATABASE_URL: url,
        SERVICE_LOG_JSON: 'true',
        NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'collect-on-signal.mjs')}`,
        HEAP_REPORT: 'heap.txt',
        EVALUATOR_CACHE_SIZE: String(CACHED_EVALUATORS),
      },
    });
    try {
      const call = restClient(await service.listening());
      const seed = seeder(call);
      const controls: number[] = [];
      for (let policy = 1; policy <= POLICIES; policy += 1) {
        await call('PUT', '/api/v1/policies', { name: `policy-${policy}` });
        for (let index = 0; index < CONTROLS; index += 1) {
          const id = await seed.control(`control-${policy}-${index}`, denyWord(`never-${policy}-${index}`));
          await call('POST', `/api/v1/policies/${policy}/controls/${id}`);
          controls.push(id);
        }
      }
      const shared = controls[0] ?? 0;
      for (let policy = 2; policy <= POLICIES; policy += 1) {
        await call('POST', `/api/v1/policies/${policy}/controls/${shared}`);
      }
      await fillAgents(url, kind);

      const errors: string[] = [];
      const evaluateAll = async (from: number, to: number): Promise<void> => {
        for (let index = from; index <= to; index += 1) {
          const { status, body } = await evaluate(call, nameOf(index), 'a harmless text');
          if (status !== 200 && errors.length < 20) errors.push(`${status} ${JSON.stringify(body)}`);
        }
      };
      const change = async (count: number): Promise<void> => {
        const { status } = await call('PUT', `/api/v1/controls/${shared}/data`, {
          data: denyWord(`word-${count}`),
        });
        if (status !== 200) errors.push(`a change was answered ${status}`);
      };
      await evaluateAll(1, AGENTS);
      for (let count = 0; count < 2 * CACHED_EVALUATORS; count += 1) await change(count);
      const before = await heapAtRest(service);

      const end = performance.now() + SECONDS * 1_000;
      let evaluations = 0;
      let changes = 0;
      const caller = async (): Promise<void> => {
        for (; performance.now() < end; evaluations += 1) {
          const index = 1 + Math.floor(Math.random() * AGENTS);
          await evaluateAll(index, index);
        }
      };
      const changer = async (): Promise<void> => {
        for (; performance.now() < end; changes += 1) {
          await change(1_000 + changes);
          await pause(1_000 / CHANGES_PER_SECOND);
        }
      };
      await Promise.all([changer(), ...Array.from({ length: CALLERS }, caller)]);
      const after = await heapAtRest(service);
      console.log(
        `fleet soak on ${kind}: ${evaluations} evaluations, ${changes} changes, ` +
          `heap at rest ${before.toFixed(1)} MiB before, ${after.toFixed(1)} after`,
      );
      expect(errors).toEqual([]);
      const last = await evaluate(call, nameOf(AGENTS), `word-${999 + changes}`);
      expect(last.body).toMatchObject({ is_safe: false, matches: [{ control_id: shared }] });
      expect(after - before).toBeLessThan(FLAT_MIB);
    } finally {
      await service.dispose();
    }
  });
});
