import type { FastifyInstance } from 'fastify';
import { TokenBucket } from '../../serve/admission/token-bucket.js';
import { sendShared } from '../../serve/rest/reply-bodies.js';
import { HOST_ROUTES } from '../../serve/routing/host-routes.js';
import type { StorageState } from '../../storage/database/storage-health/storage-state.js';
import type { Metrics } from './metrics.js';

/** Origin of the controls; `nothing` if there are none, and every evaluation is refused. */
export type ControlsSource =
  | { readonly source: 'database' | 'nothing' }
  /** The database has not answered since the start. */
  | { readonly source: 'last_known_good'; readonly ageSeconds: number };

/** The state reported by the operational routes. */
export interface OperationalState {
  readonly version: string;
  /** Id of the database; see `Database.instanceId`. */
  instanceId(): string;
  databaseUp(): boolean;
  storage(): StorageState;
  revision(): number;
  /** Null if the process can evaluate its loaded agents, else the reason why it cannot evaluate any. */
  cannotEvaluateBecause(): string | null;
  /** Origin of the controls in use. */
  controlsFrom(): ControlsSource;
  /** Null if the service is ready, else the reason why not. */
  notReadyBecause(): string | null;
}

/** /health, /ready and /metrics: public, without a database query, outside the API prefix. */
export function registerOperations(app: FastifyInstance, state: OperationalState, metrics: Metrics): void {
  const text = sharedText(
    () => metrics.text(),
    () => performance.now(),
  );
  const facts = () => {
    const controls = state.controlsFrom();
    return {
      version: state.version,
      database: state.databaseUp() ? 'up' : 'down',
      storage: state.storage(),
      instance_id: state.instanceId(),
      revision: state.revision(),
      controls_from: controls.source,
      ...('ageSeconds' in controls ? { controls_age_seconds: Math.ceil(controls.ageSeconds) } : {}),
    };
  };
  // Always 200: this decides whether the process is restarted, and a restart does not bring back a database.
  app.get(HOST_ROUTES.health.path, () => {
    const reason = state.cannotEvaluateBecause();
    return reason === null ? { status: 'healthy', ...facts() } : { status: 'unhealthy', reason, ...facts() };
  });
  app.get(HOST_ROUTES.ready.path, (_request, reply) => {
    const reason = state.notReadyBecause();
    if (reason === null) return { status: 'ready', ...facts() };
    return reply
      .code(503)
      .header('retry-after', '1')
      .send({ status: 'not_ready', reason, ...facts() });
  });
  app.route({
    method: HOST_ROUTES.metrics.methods,
    url: HOST_ROUTES.metrics.path,
    handler: async (request, reply) => sendShared(await text(), request, reply.type(metrics.contentType)),
  });
}

/** Characters of texts that are created without delay, and per second after that: a hundredth of the time. */
const BURST_LENGTH = 10_000_000;
const LENGTH_PER_SECOND = 250_000;

/**
 * Creates an expensive text on demand for occasional readers; many readers share one, which is created the more rarely
 * the longer it is. Requests during the creation get the same text. `now` is a monotonic clock in milliseconds.
 */
export function sharedText(make: () => Promise<string>, now: () => number): () => Promise<Buffer> {
  const length = new TokenBucket(LENGTH_PER_SECOND, BURST_LENGTH, now());
  let last: Promise<Buffer> | null = null;
  let isBeingMade = false;
  return () => {
    if (last !== null && (isBeingMade || length.waitMs(1, now()) > 0)) return last;
    isBeingMade = true;
    const made = make().then((text) => {
      length.owe(text.length, now());
      return Buffer.from(text);
    });
    last = made;
    made.then(
      () => {
        isBeingMade = false;
      },
      () => {
        isBeingMade = false;
        // A failure is not shared with later requests.
        if (last === made) last = null;
      },
    );
    return made;
  };
}
