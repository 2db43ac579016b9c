import type { ServerState } from '../../observe/server-info/server-info.js';
import type { OperationalState } from '../operations/operations-routes.js';
import type { Foundations } from './foundations.js';
import type { Programs } from './programs.js';

/** The state of the service as its RPCs tell it. */
export function serverState(
  { config, database, metrics, monotonic }: Foundations,
  { snapshot }: Programs,
  operational: OperationalState,
): ServerState {
  const { state, report } = database.storage;
  const { queued, buffered, dropped } = metrics.events;
  return {
    cannotEvaluateBecause: operational.cannotEvaluateBecause(),
    stalenessSeconds: (monotonic() - snapshot.oldestCurrentAtMs) / 1000,
    controlsFrom: operational.controlsFrom().source,
    databaseUp: operational.databaseUp(),
    storage: { state, problem: report === null ? null : `${report.meaning} ${report.advice}` },
    events: {
      enabled: config.observability.enabled,
      recorded: config.observability.enabled ? config.observability.record : 'none',
      waiting: queued() + buffered(),
      lost: Object.values(dropped.service).reduce((sum, count) => sum + count, 0),
    },
  };
}
