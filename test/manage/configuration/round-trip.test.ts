import { expect, it } from 'vitest';
import { describeAboveStores } from '../../support/databases.js';
import { suiteService } from '../../support/service-suite.js';
import { applier, changesOf, documentsOf, exported, largeSet } from './documents.support.js';

describeAboveStores('A set of 1,000 controls of every evaluator', (freshDatabaseUrl) => {
  // On a machine that does much else, reading a thousand documents takes longer than calls may by default.
  const variables = async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_REQUEST_TIMEOUT_SECONDS: '300',
  });
  const first = suiteService(variables);
  const second = suiteService(variables);

  it('is the same after export and apply on an empty service, and after a second apply', async () => {
    const set = largeSet(1_000);
    const applied = await applier(first.call)(set);
    expect(applied.body).toMatchObject({ applied: true, conflicts: [] });
    expect(applied.status).toBe(200);
    // A pack is installed by a call of its own, as people do.
    const installed = await first.call('POST', '/api/v1/packs/shell-safety/install', {
      policy_name: 'shell',
    });
    expect(installed.status).toBe(200);

    const text = await exported(first.call);
    expect(documentsOf(text).filter(({ kind }) => kind === 'Pack')).toHaveLength(1);
    const documents = documentsOf(text);
    const moved = await applier(second.call)(documents);
    expect(moved.body).toMatchObject({ applied: true });
    const withoutOwners = (lines: string): string => lines.replaceAll(/,"owner":"[^"]*"/g, '');
    const again = await exported(second.call);
    expect(withoutOwners(again)).toBe(withoutOwners(text));

    const same = await applier(second.call)(documents, { revision: moved.body.revision });
    expect(same.body).toMatchObject({ applied: false, revision: moved.body.revision, warnings: [] });
    expect(changesOf(same).filter((change) => !change.endsWith(' unchanged'))).toEqual([]);
    expect(await exported(second.call)).toBe(again);
  });
});
