import { describe, expect, it, onTestFinished } from 'vitest';
import { removableDatabase } from '../../e2e/last-known-good.support.js';
import { caseSeed } from '../../serve/wire/random.js';
import { DATABASE_KINDS } from '../../support/databases.js';
import { compiled } from '../../support/service-process.js';
import { killRuns, NOTHING_WRONG } from './kill-runs.js';

const KILLS = 2;

describe.each(DATABASE_KINDS)('the file of a service that is killed while it saves, on %s', (kind) => {
  it('is whole, goes forward, and is what a start without the database decides by', async () => {
    const database = await removableDatabase(kind);
    onTestFinished(() => database.drop());
    const report = await killRuns({ compiled, database, kills: KILLS, seed: caseSeed() });
    expect(report).toMatchObject({ ...NOTHING_WRONG, kills: KILLS });
  });
});
