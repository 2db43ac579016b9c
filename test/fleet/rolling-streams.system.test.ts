import { expect, it } from 'vitest';
import { describeOnPostgresql } from '../support/databases.js';
import { compiled } from '../support/service-process.js';
import { rollStreams } from './rolling-streams.js';

// Which database the replicas share changes nothing of streams; test/long has both.
describeOnPostgresql('a rolling restart of two replicas under busy streams', (freshDatabaseUrl) => {
  it('loses and doubles no evaluation, and clients that follow the notices spread over the replicas', async () => {
    const { tally, evaluated, spread } = await rollStreams({
      compiled,
      databaseUrl: await freshDatabaseUrl(),
      clients: 12,
      concurrency: 4,
      restarts: 2,
      maxAgeSeconds: 2,
    });
    expect(tally).toMatchObject({ answered: tally.sent, wrong: [] });
    expect(tally.notices).toBeGreaterThan(0);
    // What was sent again was not evaluated before.
    expect(evaluated).toBe(tally.sent);
    expect(spread).toHaveLength(3);
  });
});
