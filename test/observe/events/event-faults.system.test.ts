import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caseSeed, Random } from '../../serve/wire/random.js';
import { type CompiledService, compileService } from '../../support/service-process.js';
import { faultRuns, NOTHING_WRONG } from './fault-runs.js';
import { FAULTABLE_STORES } from './faultable-stores.js';

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

describe.each(Object.entries(FAULTABLE_STORES))('events in %s', (_name, create) => {
  it('that were acknowledged are stored, counted and watched once after deaths of the service and of the storage', async () => {
    await using store = await create();
    const random = new Random(caseSeed());
    const report = await faultRuns({ compiled, store, kills: 1, outagesMs: [200], random });
    expect(report).toMatchObject(NOTHING_WRONG);
    expect(report.acknowledged).toBeGreaterThan(0);
  });
});
