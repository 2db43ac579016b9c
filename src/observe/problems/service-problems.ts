import type { ServerState } from '../server-info/server-info.js';
import { durationText, ofService, type Problem } from './problem.js';

/** Controls are confirmed several times a second; older ones are not current for certain. */
const STALE_SECONDS = 10;
/** Events wait for the flush interval in any case; more than the service writes at once are a sign. */
const MANY_WAITING = 10_000;

/**
 * What the state of a process tells, without asking the database. `isMissed` says that the database did not tell what it
 * knows of agents and controls in time.
 */
export function serviceProblems(state: ServerState, isMissed = false): Problem[] {
  const isDown = !state.databaseUp || state.storage.state === 'DOWN';
  return [
    ...evaluation(state),
    ...(isDown ? [down(state)] : []),
    ...storage(state),
    ...(isMissed && !isDown ? [UNCHECKED] : []),
    ...events(state),
  ];
}

const UNCHECKED = ofService(
  'unchecked',
  'warning',
  'Agents and controls could not be checked',
  'The database did not tell in time what it knows of them, so that problems of agents, controls and processes may be missing here. It is overloaded, or has just gone; the list is determined again in a few seconds.',
);

function evaluation(state: ServerState): Problem[] {
  const { cannotEvaluateBecause, controlsFrom, stalenessSeconds: age, databaseUp } = state;
  if (cannotEvaluateBecause !== null) {
    const detail = `${sentence(cannotEvaluateBecause)} This is what the process that was asked knows.`;
    return [ofService('cannot_evaluate', 'critical', 'No step can be evaluated', detail)];
  }
  if (controlsFrom === 'last_known_good') {
    return [
      ofService(
        'last_known_good',
        'warning',
        'Controls come from the last known good file',
        'The database has not answered since the process that was asked started; later changes are not known. Restore the connection to the database.',
      ),
    ];
  }
  if (!databaseUp || age <= STALE_SECONDS) return [];
  const old = Number.isFinite(age) ? `the controls of ${durationText(age)} ago` : 'old controls';
  return [
    ofService(
      'controls_stale',
      'warning',
      'Controls are stale',
      `Some agents are evaluated with ${old} by the process that was asked: a change could not be loaded. Its log says why.`,
    ),
  ];
}

function down({ stalenessSeconds: age, cannotEvaluateBecause }: ServerState): Problem {
  const evaluated =
    cannotEvaluateBecause === null && Number.isFinite(age)
      ? `Agents that are loaded are evaluated with the controls of ${durationText(Math.max(0, age))} ago. `
      : '';
  return ofService(
    'database_down',
    'critical',
    'The database does not answer',
    `${evaluated}Nothing can be changed or searched, and events wait in memory. What the database would tell of agents and controls is missing here.`,
  );
}

/** What is wrong with the storage; also where the database does not answer any more because of it. */
function storage({ storage: { state, problem } }: ServerState): Problem[] {
  if (state === 'OK' || state === 'DOWN') return [];
  return [
    ofService(
      'storage',
      'critical',
      'Changes and events cannot be stored',
      problem ?? 'The storage of the database has a problem.',
    ),
  ];
}

function events({ events: { enabled, waiting, lost } }: ServerState): Problem[] {
  const problems: Problem[] = [];
  if (lost > 0) {
    const title = `${lost.toLocaleString('en')} ${lost === 1 ? 'event was' : 'events were'} lost`;
    const detail =
      'The process that was asked could not store them since it started; its log says why. Statistics lack them.';
    problems.push(ofService('events_lost', 'warning', title, detail));
  }
  if (waiting >= MANY_WAITING) {
    const title = `${waiting.toLocaleString('en')} events wait to be stored`;
    const detail =
      'The database does not keep up with the process that was asked; statistics and searches do not have them yet.';
    problems.push(ofService('events_waiting', 'warning', title, detail));
  }
  if (!enabled) {
    problems.push(
      ofService(
        'events_off',
        'notice',
        'Events are not stored',
        'The service runs with SERVICE_OBSERVABILITY_ENABLED=false: nothing is counted or searched.',
      ),
    );
  }
  return problems;
}

function sentence(text: string): string {
  const upper = `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
