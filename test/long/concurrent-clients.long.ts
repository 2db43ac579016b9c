import { expect, it } from 'vitest';
import { checkFinalState } from '../compatibility/concurrent-checker.js';
import { runConcurrentClients } from '../compatibility/concurrent-clients.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { startService } from '../support/service.js';

const CLIENTS = 64;
const SECONDS = Number(process.env.VERIFY_SECONDS ?? '30');
/** For the checks after the clients are done. */
const MARGIN_MS = 120_000;

describeOnEachDatabase(
  '64 clients that change the same few controls and agents',
  (freshDatabaseUrl, kind) => {
    it(`for ${SECONDS} s leave a state behind that is explained by everything they received`, {
      timeout: SECONDS * 1000 + MARGIN_MS,
    }, async () => {
      // Another interleaving each time; the seed is printed so that the choices can be repeated.
      const seed = Number(process.env.VERIFY_SEED ?? Date.now() % 1_000_000);
      const service = await startService(
        { DATABASE_URL: await freshDatabaseUrl(), SERVICE_LOG_LEVEL: 'error' },
        { keepsLines: false },
      );
      try {
        const end = performance.now() + SECONDS * 1000;
        const goOn = () => performance.now() < end;
        const run = await runConcurrentClients({ url: service.url, clients: CLIENTS, seed, goOn });
        const { operations } = run.history;
        const done = operations.filter(({ status }) => status === 200).length;
        console.log(`${kind}: ${operations.length} operations, ${done} of them done, seed ${seed}`);
        expect(done).toBeGreaterThan(0);
        expect(await checkFinalState(run)).toEqual([]);
      } finally {
        await service.stop();
      }
    });
  },
);
