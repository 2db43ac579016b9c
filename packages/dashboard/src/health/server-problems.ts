import { ControlsSource, type ServerState, StorageState } from '@gen/enforcement/v1/server_service_pb.js';
import { ageText } from './age-text.js';

/** Something of the server itself that does not work, and what it means. */
export interface ServerProblem {
  /** The word of ListProblems for it. */
  readonly kind: string;
  /** `notice` is a setting, not a fault. */
  readonly severity: 'notice' | 'warning' | 'critical' | 'unreachable';
  readonly title: string;
  readonly detail: string;
}

/** What is known of the server. */
export interface KnownServer {
  /** Whether the last request failed. */
  readonly isUnreachable: boolean;
  /** Whether the server says that it serves; undefined while that is not known. */
  readonly isServing: boolean | undefined;
  readonly state: StateFacts | undefined;
}

type StateFacts = Pick<
  ServerState,
  | 'cannotEvaluateBecause'
  | 'stalenessSeconds'
  | 'controlsFrom'
  | 'databaseUp'
  | 'storageState'
  | 'storageProblem'
  | 'eventsEnabled'
  | 'waitingEvents'
  | 'lostEvents'
>;

/** Controls are confirmed several times a second; older ones are not current for certain. */
const STALE_SECONDS = 10;
/** Events wait for the flush interval in any case; more than the service writes at once are a sign. */
const MANY_WAITING = 10_000n;

/**
 * Everything that does not work, as the state of the process tells it: within seconds, also while the database is gone,
 * and to callers that may not list all problems.
 */
export function serverProblems({ isUnreachable, isServing, state }: KnownServer): ServerProblem[] {
  if (isUnreachable) {
    return [
      {
        kind: 'unreachable',
        severity: 'unreachable',
        title: 'The server does not answer',
        detail: 'What is shown may be out of date. The page asks again by itself.',
      },
    ];
  }
  const problems = state === undefined ? [] : [...evaluation(state), ...storage(state), ...events(state)];
  const isExplained = problems.some(({ severity }) => severity !== 'notice');
  if (isServing === false && !isExplained) {
    problems.unshift({
      kind: 'not_serving',
      severity: 'critical',
      title: 'The server reports that it does not serve',
      detail: 'Its health check, grpc.health.v1, gives no reason.',
    });
  }
  return problems;
}

function evaluation(state: StateFacts): ServerProblem[] {
  const { cannotEvaluateBecause, controlsFrom, stalenessSeconds: age, databaseUp } = state;
  if (cannotEvaluateBecause !== undefined) {
    return [
      {
        kind: 'cannot_evaluate',
        severity: 'critical',
        title: 'No step can be evaluated',
        detail: `${sentence(cannotEvaluateBecause)}`,
      },
    ];
  }
  if (controlsFrom === ControlsSource.LAST_KNOWN_GOOD) {
    return [
      {
        kind: 'last_known_good',
        severity: 'warning',
        title: 'Controls come from the last known good file',
        detail: 'The database has not answered since the server was started; later changes are not known.',
      },
    ];
  }
  if (databaseUp && age !== undefined && age > STALE_SECONDS) {
    return [
      {
        kind: 'controls_stale',
        severity: 'warning',
        title: 'Controls are stale',
        detail: `Some agents are evaluated with the controls of ${ageText(age)} ago: a change could not be loaded.`,
      },
    ];
  }
  return [];
}

function storage(state: StateFacts): ServerProblem[] {
  const { databaseUp, storageState, storageProblem, stalenessSeconds: age, cannotEvaluateBecause } = state;
  if (!databaseUp || storageState === StorageState.DOWN) {
    const evaluated =
      cannotEvaluateBecause === undefined
        ? `Agents that are loaded are evaluated with the controls of ${age === undefined ? 'an unknown time' : ageText(age)} ago. `
        : '';
    return [
      {
        kind: 'database_down',
        severity: 'critical',
        title: 'The database does not answer',
        detail: `${evaluated}Nothing can be changed or searched, and events wait in memory.`,
      },
    ];
  }
  if (storageState === StorageState.OK || storageState === StorageState.UNSPECIFIED) return [];
  return [
    {
      kind: 'storage',
      severity: 'critical',
      title: 'Changes and events cannot be stored',
      detail: storageProblem ?? 'The storage of the database has a problem.',
    },
  ];
}

function events({ eventsEnabled, waitingEvents, lostEvents }: StateFacts): ServerProblem[] {
  const problems: ServerProblem[] = [];
  if (lostEvents > 0n) {
    problems.push({
      kind: 'events_lost',
      severity: 'warning',
      title: `${lostEvents.toLocaleString('en')} events were lost`,
      detail: 'They could not be stored since the server was started; its log says why.',
    });
  }
  if (waitingEvents >= MANY_WAITING) {
    problems.push({
      kind: 'events_waiting',
      severity: 'warning',
      title: `${waitingEvents.toLocaleString('en')} events wait to be stored`,
      detail: 'The database does not keep up; statistics and searches do not have them yet.',
    });
  }
  if (!eventsEnabled) {
    problems.push({
      kind: 'events_off',
      severity: 'notice',
      title: 'Events are not stored',
      detail: 'The server runs with SERVICE_OBSERVABILITY_ENABLED=false: nothing is counted or searched.',
    });
  }
  return problems;
}

function sentence(text: string): string {
  const upper = `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
