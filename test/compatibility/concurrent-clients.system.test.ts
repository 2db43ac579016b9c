import { describe, expect, it } from 'vitest';
import { describeAboveStores, describeOnSqlite } from '../support/databases.js';
import { suiteService, testService } from '../support/service-suite.js';
import { checkFinalState } from './concurrent-checker.js';
import { runConcurrentClients } from './concurrent-clients.js';
import { possibleFinalValues } from './concurrent-history.js';

const CLIENTS = 64;
/** `npm run verify:long -- concurrent-clients` goes on for half a minute. */
const OPERATIONS_PER_CLIENT = 6;

describeAboveStores('64 clients that change the same few controls and agents at once', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({ DATABASE_URL: await freshDatabaseUrl() }));

  it('leave a state behind that is explained by everything they received', async () => {
    const run = await runConcurrentClients({
      url: service.url,
      clients: CLIENTS,
      seed: 4711,
      goOn: (done) => done < OPERATIONS_PER_CLIENT,
    });
    expect(run.history.operations).toHaveLength(CLIENTS * OPERATIONS_PER_CLIENT);
    expect(await checkFinalState(run)).toEqual([]);
  });
});

// The checker reads replies, which no database has to do with.
describeOnSqlite('clients that change the same few controls and agents at once', () => {
  it('are found out when they received what did not happen', async () => {
    const other = await testService();
    const run = await runConcurrentClients({
      url: other.url,
      clients: 4,
      seed: 1,
      goOn: (done) => done < 20,
    });
    const told = { what: 'told', status: 200, body: {} };
    const at = () => ({ started: run.history.now(), ended: run.history.now() });
    run.history.add({ ...told, ...at(), effects: [{ subject: 'control 999999', value: true }] });
    run.history.add({ ...told, ...at(), effects: [{ subject: 'agent contended-01', value: 'lost' }] });
    run.history.add({
      ...told,
      ...at(),
      effects: [],
      status: 404,
      body: { error_code: 'CONTROL_NOT_FOUND' },
    });
    const problems = await checkFinalState(run);
    for (const part of [
      'control 999999 is gone',
      'control 999999 has 0 versions',
      'expected lost',
      'told: 404',
    ]) {
      expect(problems.join('\n')).toContain(part);
    }
  });
});

describe('the values that writes at the same time may leave', () => {
  it('are those of the writes after which no other began', () => {
    const write = (value: string, started: number, ended: number) => ({ value, started, ended });
    expect([...possibleFinalValues([write('a', 1, 2), write('b', 3, 4)])]).toEqual(['b']);
    expect([...possibleFinalValues([write('a', 1, 4), write('b', 2, 3)])]).toEqual(['a', 'b']);
    expect([...possibleFinalValues([write('a', 1, 2), write('b', 3, 6), write('c', 4, 5)])]).toEqual([
      'b',
      'c',
    ]);
    expect([...possibleFinalValues([])]).toEqual([]);
  });
});
