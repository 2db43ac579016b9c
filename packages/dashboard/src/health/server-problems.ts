import { ControlsSource, type ServerState, StorageState } from '@gen/enforcement/v1/server_service_pb.js';
import { ageText } from './age-text.js';

/** How well the server works, in one word. */
export type HealthWord = 'checking' | 'healthy' | 'degraded' | 'unhealthy' | 'unreachable';

/** Something that does not work, and what it means. */
export interface ServerProblem {
  /** `notice` is a setting, not a fault. */
  readonly severity: 'notice' | 'degraded' | 'unhealthy' | 'unreachable';
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

/** Everything that does not work, the worst first. */
export function serverProblems({ isUnreachable, isServing, state }: KnownServer): ServerProblem[] {
  if (isUnreachable) {
    return [
      {
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
      severity: 'unhealthy',
      title: 'The server reports that it does not serve',
      detail: 'Its health check, grpc.health.v1, gives no reason.',
    });
  }
  return problems;
}

/** The word for what is known of the server. */
export function healthWord(known: KnownServer): HealthWord {
  const severities = new Set(serverProblems(known).map(({ severity }) => severity));
  for (const severity of ['unreachable', 'unhealthy', 'degraded'] as const) {
    if (severities.has(severity)) return severity;
  }
  return known.isServing === undefined || known.state === undefined ? 'checking' : 'healthy';
}

function evaluation(state: StateFacts): ServerProblem[] {
  const { cannotEvaluateBecause, controlsFrom, stalenessSeconds: age, databaseUp } = state;
  if (cannotEvaluateBecause !== undefined) {
    return [
      {
        severity: 'unhealthy',
        title: 'No step can be evaluated',
        detail: `${sentence(cannotEvaluateBecause)}`,
      },
    ];
  }
  if (controlsFrom === ControlsSource.LAST_KNOWN_GOOD) {
    return [
      {
        severity: 'degraded',
        title: 'Controls come from the last known good file',
        detail: 'The database has not answered since the server was started; later changes are not known.',
      },
    ];
  }
  if (databaseUp && age !== undefined && age > STALE_SECONDS) {
    return [
      {
        severity: 'degraded',
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
        severity: 'degraded',
        title: 'The database does not answer',
        detail: `${evaluated}Nothing can be changed or searched, and events wait in memory.`,
      },
    ];
  }
  if (storageState === StorageState.OK || storageState === StorageState.UNSPECIFIED) return [];
  return [
    {
      severity: 'degraded',
      title: 'Changes and events cannot be stored',
      detail: storageProblem ?? 'The storage of the database has a problem.',
    },
  ];
}

function events({ eventsEnabled, waitingEvents, lostEvents }: StateFacts): ServerProblem[] {
  const problems: ServerProblem[] = [];
  if (lostEvents > 0n) {
    problems.push({
      severity: 'degraded',
      title: `${lostEvents.toLocaleString('en')} events were lost`,
      detail: 'They could not be stored since the server was started; its log says why.',
    });
  }
  if (waitingEvents >= MANY_WAITING) {
    problems.push({
      severity: 'degraded',
      title: `${waitingEvents.toLocaleString('en')} events wait to be stored`,
      detail: 'The database does not keep up; statistics and searches do not have them yet.',
    });
  }
  if (!eventsEnabled) {
    problems.push({
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
