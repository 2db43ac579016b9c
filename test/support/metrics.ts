import { createMetrics, type Metrics } from '../../src/app/operations/metrics.js';
import type { StreamNames } from '../../src/serve/routing/open-streams.js';

/** Metrics of a service in which nothing happens but what is counted. */
export function createQuietMetrics(prefix: string, streams: StreamNames): Metrics {
  const metrics = createMetrics(prefix);
  metrics.observe({
    snapshotAgents: () => 0,
    snapshotControlSets: () => 0,
    revision: () => 0,
    databaseUp: () => true,
    storage: () => ({ state: 'OK', transitions: new Map() }),
    stalenessSeconds: () => 0,
    eventLoopDelaySeconds: () => 0,
    countedCalls: () => 0,
    connections: () => 0,
    publicCalls: () => 0,
    waitingForRevision: () => 0,
    streams: () => streams,
  });
  return metrics;
}
