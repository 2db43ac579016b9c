import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeOnEachDatabase } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { startService } from '../../support/service.js';
import { type SuiteService, suiteService } from '../../support/service-suite.js';
import type { Kit } from './semantics.support.js';
import { OF_CONTROLS } from './semantics-of-controls.cases.js';
import { OF_STEPS } from './semantics-of-steps.cases.js';
import { OF_TIMES } from './semantics-of-times.cases.js';

const page = readFileSync(new URL('../../../docs/memory.md', import.meta.url), 'utf8');
const section = page.split('\n## ').find((part) => part.startsWith('Semantics\n')) ?? '';
const sentences = [...section.matchAll(/^- (.+)$/gm)].map(([, sentence]) => sentence);

it('every sentence about the semantics of memory has a test of its name, and there is no other', () => {
  const tested = [OF_STEPS, OF_CONTROLS, OF_TIMES].flatMap((cases) => Object.keys(cases));
  expect(sentences.length).toBeGreaterThan(15);
  expect([...tested].sort()).toEqual([...sentences].sort());
});

describeOnEachDatabase('the semantics of memory', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    // A slow machine is no matter of these tests.
    SERVICE_MEMORY_TIMEOUT_SECONDS: '60',
  }));
  const kit: Kit = {
    call: service.call,
    seed: service.seed,
    service,
    async another(environment) {
      const other = await startService({ DATABASE_URL: service.databaseUrl, ...environment });
      onTestFinished(() => other.stop());
      const call = restClient(other.url);
      return { ...kit, call, seed: seeder(call), service: other as SuiteService };
    },
  };
  for (const [sentence, holds] of Object.entries({ ...OF_STEPS, ...OF_CONTROLS })) {
    it(sentence, () => holds(kit));
  }
});

describe('the semantics of memory, to the microsecond', () => {
  for (const [sentence, holds] of Object.entries(OF_TIMES)) it(sentence, holds);
});
