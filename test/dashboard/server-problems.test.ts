import { describe, expect, it } from 'vitest';
import { ControlsSource, StorageState } from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { ageText } from '../../packages/dashboard/src/health/age-text.js';
import {
  healthWord,
  type KnownServer,
  serverProblems,
} from '../../packages/dashboard/src/health/server-problems.js';

type State = NonNullable<KnownServer['state']>;

const FINE: State = {
  stalenessSeconds: 0.1,
  controlsFrom: ControlsSource.DATABASE,
  databaseUp: true,
  storageState: StorageState.OK,
  eventsEnabled: true,
  waitingEvents: 3n,
  lostEvents: 0n,
};
const known = (state: Partial<State>, more: Partial<KnownServer> = {}): KnownServer => ({
  isUnreachable: false,
  isServing: true,
  state: { ...FINE, ...state },
  ...more,
});
const titles = (server: KnownServer) => serverProblems(server).map(({ title }) => title);

describe('the health of the server', () => {
  it('is healthy without a problem, and not known before the first reply', () => {
    expect([healthWord(known({})), serverProblems(known({}))]).toEqual(['healthy', []]);
    expect(healthWord({ isUnreachable: false, isServing: undefined, state: undefined })).toBe('checking');
  });

  it.each<[string, Partial<State>, Partial<KnownServer>, string, RegExp]>([
    ['no reply', {}, { isUnreachable: true }, 'unreachable', /does not answer/],
    [
      'no evaluation',
      { cannotEvaluateBecause: 'no agent is loaded' },
      {},
      'unhealthy',
      /No step can be evaluated/,
    ],
    ['a database that is gone', { databaseUp: false }, {}, 'degraded', /database does not answer/],
    [
      'a storage that is down',
      { storageState: StorageState.DOWN },
      {},
      'degraded',
      /database does not answer/,
    ],
    [
      'a full disk',
      { storageState: StorageState.NOSPACE, storageProblem: 'Full.' },
      {},
      'degraded',
      /cannot be stored/,
    ],
    ['old controls', { stalenessSeconds: 70 }, {}, 'degraded', /stale/],
    [
      'controls of a file',
      { controlsFrom: ControlsSource.LAST_KNOWN_GOOD },
      {},
      'degraded',
      /last known good/,
    ],
    ['lost events', { lostEvents: 1_000n }, {}, 'degraded', /1,000 events were lost/],
    ['a backlog', { waitingEvents: 20_000n }, {}, 'degraded', /20,000 events wait/],
    ['a failed health check', {}, { isServing: false }, 'unhealthy', /does not serve/],
    ['no event store', { eventsEnabled: false }, {}, 'healthy', /Events are not stored/],
  ])('names %s', (_what, state, more, word, title) => {
    const server = known(state, more);
    expect(healthWord(server)).toBe(word);
    expect(titles(server)).toEqual([expect.stringMatching(title)]);
  });

  it('says how old the controls are that loaded agents are evaluated with', () => {
    const [problem] = serverProblems(known({ databaseUp: false, stalenessSeconds: 200 }));
    expect(problem?.detail).toContain('the controls of 3 minutes ago');
    const [none] = serverProblems(known({ databaseUp: false, cannotEvaluateBecause: 'nothing is loaded' }));
    expect(none?.detail).toBe('Nothing is loaded.');
  });

  it('does not repeat that a server does not serve when it says why', () => {
    expect(titles(known({ cannotEvaluateBecause: 'nothing is loaded' }, { isServing: false }))).toEqual([
      'No step can be evaluated',
    ]);
  });
});

it('an age is said in its largest unit', () => {
  expect([0, 0.9, 1, 59.9, 60, 3_599, 7_300, 200_000].map(ageText)).toEqual([
    'less than a second',
    'less than a second',
    '1 second',
    '59 seconds',
    '1 minute',
    '59 minutes',
    '2 hours',
    '2 days',
  ]);
});
