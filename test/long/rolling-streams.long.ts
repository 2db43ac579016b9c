import { describe, expect, it } from 'vitest';
import { rollStreams } from '../fleet/rolling-streams.js';
import { createTestDatabase, DATABASE_KINDS } from '../support/databases.js';
import { compiled } from '../support/service-process.js';

const TIMEOUT_MS = 900_000;

describe('rolling restarts of two replicas under busy streams', () => {
  it.each(DATABASE_KINDS)(
    'lose and double no evaluation of 60 clients on %s',
    async (kind) => {
      const database = await createTestDatabase(kind);
      const { tally, evaluated, spread } = await rollStreams({
        compiled,
        databaseUrl: database.url,
        clients: 60,
        concurrency: 2,
        restarts: 6,
        maxAgeSeconds: 10,
      });
      await database.drop();
      const { sent, answered, again, notices } = tally;
      const lines = spread.map(
        ({ phase, streams, ages }) => `${phase}: ${streams} after ${ages.toFixed(2)} ages`,
      );
      console.log([JSON.stringify({ sent, answered, again, notices, evaluated }), ...lines].join('\n'));
      expect(tally).toMatchObject({ answered: sent, wrong: [] });
      // What was sent again was not evaluated before.
      expect(evaluated).toBe(sent);
    },
    TIMEOUT_MS,
  );
});
