import { describe, expect, it } from 'vitest';
import {
  ControlsSource,
  ProblemSeverity,
  StorageState,
} from '../../gen/proto/enforcement/v1/server_service_pb.js';
import { ageText } from '../../packages/dashboard/src/health/age-text.js';
import { listAddress, subjectAddress } from '../../packages/dashboard/src/health/problem-links.js';
import { type KnownServer, serverProblems } from '../../packages/dashboard/src/health/server-problems.js';
import { type ListedProblem, verdictOf } from '../../packages/dashboard/src/health/verdict.js';

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

describe('the verdict on the service', () => {
  const listed = (problem: Partial<ListedProblem>): ListedProblem => ({
    kind: 'control_failing',
    severity: ProblemSeverity.WARNING,
    title: 'A control fails.',
    detail: 'Look at it.',
    count: 0,
    subjects: [],
    ...problem,
  });

  it('is that it works without a problem, and not known before all is known', () => {
    expect(verdictOf(known({}), [])).toEqual({ word: 'working', problems: [] });
    expect(verdictOf(known({}), undefined).word).toBe('checking');
    expect(verdictOf({ isUnreachable: false, isServing: undefined, state: undefined }, []).word).toBe(
      'checking',
    );
  });

  it('of a caller who may not list the problems is by the state of the server', () => {
    expect(verdictOf(known({}), null).word).toBe('working');
    expect(verdictOf(known({ databaseUp: false }), null).word).toBe('attention');
  });

  it('has the worst problem first, and each kind once', () => {
    const { word, problems } = verdictOf(known({ databaseUp: false }), [
      listed({ kind: 'agents_silent', severity: ProblemSeverity.NOTICE }),
      listed({}),
      listed({ kind: 'database_down', severity: ProblemSeverity.CRITICAL }),
    ]);
    expect([word, problems.map(({ kind }) => kind)]).toEqual([
      'attention',
      ['database_down', 'control_failing', 'agents_silent'],
    ]);
    // The page adds the full stop.
    expect(problems[1]?.title).toBe('A control fails');
  });

  it('is not changed by facts that are no faults, and takes an unknown severity for a fault', () => {
    const notice = listed({ severity: ProblemSeverity.NOTICE });
    expect(verdictOf(known({}), [notice])).toMatchObject({
      word: 'working',
      problems: [{ severity: 'notice' }],
    });
    const unknown = listed({ severity: ProblemSeverity.UNSPECIFIED });
    expect(verdictOf(known({}), [unknown]).word).toBe('attention');
  });

  it('on a server that does not answer says nothing else', () => {
    const { word, problems } = verdictOf(known({}, { isUnreachable: true }), [listed({})]);
    expect([word, problems.map(({ kind }) => kind)]).toEqual(['unreachable', ['unreachable']]);
  });

  it('leads to what a problem is about', () => {
    const subject = (type: string, id: string) => ({ type, id, name: 'name' });
    expect(subjectAddress('agent_denied_by_error', subject('agent', 'a/b'))).toBe('/agents/a%2Fb');
    expect(subjectAddress('evaluator_not_configured', subject('control', '7'))).toBe('/controls/7');
    expect(subjectAddress('certificate_expiring', subject('certificate', 'x'))).toBeUndefined();
    expect(listAddress({ kind: 'agents_without_controls' })).toBe('/agents?controls=none');
    expect(listAddress({ kind: 'sink_failing' })).toBeUndefined();
  });
});

describe('the health of the server', () => {
  it.each<[string, Partial<State>, Partial<KnownServer>, string, RegExp]>([
    ['no reply', {}, { isUnreachable: true }, 'unreachable', /does not answer/],
    [
      'no evaluation',
      { cannotEvaluateBecause: 'no agent is loaded' },
      {},
      'attention',
      /No step can be evaluated/,
    ],
    ['a database that is gone', { databaseUp: false }, {}, 'attention', /database does not answer/],
    [
      'a storage that is down',
      { storageState: StorageState.DOWN },
      {},
      'attention',
      /database does not answer/,
    ],
    [
      'a full disk',
      { storageState: StorageState.NOSPACE, storageProblem: 'Full.' },
      {},
      'attention',
      /cannot be stored/,
    ],
    ['old controls', { stalenessSeconds: 70 }, {}, 'attention', /stale/],
    [
      'controls of a file',
      { controlsFrom: ControlsSource.LAST_KNOWN_GOOD },
      {},
      'attention',
      /last known good/,
    ],
    ['lost events', { lostEvents: 1_000n }, {}, 'attention', /1,000 events were lost/],
    ['a backlog', { waitingEvents: 20_000n }, {}, 'attention', /20,000 events wait/],
    ['a failed health check', {}, { isServing: false }, 'attention', /does not serve/],
    ['no event store', { eventsEnabled: false }, {}, 'working', /Events are not stored/],
  ])('names %s', (_what, state, more, word, title) => {
    const server = known(state, more);
    expect(verdictOf(server, []).word).toBe(word);
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
