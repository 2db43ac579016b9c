import { describe, expect, it } from 'vitest';
import { serviceProblems } from '../../../src/observe/problems/service-problems.js';
import type { ServerState } from '../../../src/observe/server-info/server-info.js';

const WELL: ServerState = {
  cannotEvaluateBecause: null,
  stalenessSeconds: 0.2,
  controlsFrom: 'database',
  databaseUp: true,
  storage: { state: 'OK', problem: null },
  events: { enabled: true, recorded: 'matches', waiting: 12, lost: 0 },
};
const told = (state: Partial<ServerState>) =>
  serviceProblems({ ...WELL, ...state }).map(({ kind, severity, title }) => [severity, kind, title]);
const details = (state: Partial<ServerState>) =>
  serviceProblems({ ...WELL, ...state }).map(({ detail }) => detail);

describe('the state of a process', () => {
  it('is no problem while all works, events wait for their flush included', () => {
    expect(told({})).toEqual([]);
    expect(told({ events: { ...WELL.events, waiting: 9_999 } })).toEqual([]);
    expect(told({ stalenessSeconds: 10 })).toEqual([]);
  });

  it('tells why no step can be evaluated, as a sentence', () => {
    const state = { cannotEvaluateBecause: 'the file is missing', databaseUp: false };
    expect(told(state)).toEqual([
      ['critical', 'cannot_evaluate', 'No step can be evaluated'],
      ['critical', 'database_down', 'The database does not answer'],
    ]);
    expect(details(state)[0]).toMatch(/^The file is missing\. /);
    expect(details(state)[1]).toMatch(/^Nothing can be changed/);
  });

  it('tells controls of the last known good file, and stale ones', () => {
    expect(told({ controlsFrom: 'last_known_good', databaseUp: false }).map(([, kind]) => kind)).toEqual([
      'last_known_good',
      'database_down',
    ]);
    expect(told({ stalenessSeconds: 75 })).toEqual([['warning', 'controls_stale', 'Controls are stale']]);
    expect(details({ stalenessSeconds: 75 })[0]).toContain('the controls of 1 minute ago');
    expect(details({ stalenessSeconds: Number.POSITIVE_INFINITY })[0]).toContain('old controls');
  });

  it('tells a database that does not answer, and one that does not store', () => {
    const down = { storage: { state: 'DOWN', problem: 'It is down.' } };
    expect(told({ ...down, stalenessSeconds: 5 })).toEqual([
      ['critical', 'database_down', 'The database does not answer'],
    ]);
    expect(details({ ...down, stalenessSeconds: 5 })[0]).toContain('the controls of 5 seconds ago');
    // One that answers others did not answer the list.
    expect(serviceProblems(WELL, true).map(({ kind }) => kind)).toEqual(['unchecked']);
    expect(serviceProblems({ ...WELL, ...down }, true).map(({ kind }) => kind)).toEqual(['database_down']);
    // A damaged database may not answer either: its cause is told as well.
    const damaged = { databaseUp: false, storage: { state: 'CORRUPT', problem: 'It is damaged.' } };
    expect(serviceProblems({ ...WELL, ...damaged }).map(({ kind }) => kind)).toEqual([
      'database_down',
      'storage',
    ]);
    const full = { storage: { state: 'NOSPACE', problem: 'The disk is full. Make space.' } };
    expect(told(full)).toEqual([['critical', 'storage', 'Changes and events cannot be stored']]);
    expect(details(full)).toEqual(['The disk is full. Make space.']);
  });

  it('tells events that are lost, that wait and that are not stored', () => {
    expect(told({ events: { enabled: false, recorded: 'none', waiting: 10_000, lost: 1 } })).toEqual([
      ['warning', 'events_lost', '1 event was lost'],
      ['warning', 'events_waiting', '10,000 events wait to be stored'],
      ['notice', 'events_off', 'Events are not stored'],
    ]);
    expect(told({ events: { ...WELL.events, lost: 1_200 } })[0]?.[2]).toBe('1,200 events were lost');
  });
});
