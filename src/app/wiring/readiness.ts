import { VERSION } from '../../contract/runtime/package-root.js';
import { ageMs } from '../last-known-good/kept-agents.js';
import type { StartedDatabase } from '../last-known-good/start-database.js';
import type { OperationalState } from '../operations/operations-routes.js';
import type { Foundations } from './foundations.js';
import type { Programs } from './programs.js';

/** The state that the service reports. */
export function createOperationalState(
  { database, started, now }: Foundations,
  { watch, snapshot, lastKnownGood, warmStart }: Programs,
  isDraining: () => boolean,
): OperationalState {
  const { storage } = database;
  const cannotEvaluateBecause = (): string | null => {
    if (watch.isBlind) return started.header === null ? whyWithoutDatabase(started) : null;
    if (watch.databaseUp || snapshot.loadedOnce || lastKnownGood.isAtHand) return null;
    return 'the database does not answer, and no agent is loaded';
  };
  return {
    version: VERSION,
    instanceId: () => database.instanceId,
    databaseUp: () => watch.databaseUp,
    storage: () => storage.state,
    revision: () => watch.revision,
    controlsFrom() {
      if (!watch.isBlind) return { source: 'database' };
      if (started.header === null) return { source: 'nothing' };
      return { source: 'last_known_good', ageSeconds: ageMs(started.header, now()) / 1000 };
    },
    cannotEvaluateBecause,
    notReadyBecause() {
      if (isDraining()) return 'the server is shutting down';
      if (watch.isBlind) return notReadyWithoutDatabase(started);
      const { report } = storage;
      // While the database is down, loaded agents are still served.
      if (report !== null && report.state !== 'DOWN') return `${report.meaning} ${report.advice}`;
      if (warmStart.isLoading) return 'the agents used last are being loaded';
      return cannotEvaluateBecause();
    },
  };
}

/** Why a service that started without its database should not get requests; null if it should. */
function notReadyWithoutDatabase(started: StartedDatabase): string | null {
  const problem = started.wait?.problem ?? null;
  const isUnexpected = problem?.state === 'MISSING' || problem?.state === 'REPLACED';
  if (isUnexpected) return problem.detail;
  return started.header === null ? whyWithoutDatabase(started) : null;
}

/** Why a service that started without its database has no controls. */
function whyWithoutDatabase({ wait }: StartedDatabase): string {
  return wait?.problem?.detail ?? 'the controls are being loaded';
}
