import type { Worker } from 'node:cluster';
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../../contract/config/config.js';
import { migrateDatabase } from '../last-known-good/start-database.js';
import { createSupervisorMetrics } from '../operations/metrics.js';
import { addressText } from '../wiring/address.js';
import type { Addresses, PortName } from '../wiring/app.js';
import { Dispatcher, type Receiver } from './dispatcher.js';
import { type ToPrimary, tellWorker } from './messages.js';
import { type Measurable, SharedMetrics } from './shared-metrics.js';
import { WorkerPool } from './worker-pool.js';

/** Time for the work at shutdown besides finishing requests; a worker that takes longer is killed. */
const CLOSE_LIMIT_MS = 5_000;
const SECRET_BYTES = 32;

/** Several processes that act as one. */
export interface Primary {
  /** Starts the workers, then listens. */
  listen(): Promise<Addresses>;
  /** Lets all workers read the files again that may change while the service runs. */
  reload(): void;
  /** Lets all workers finish. Rejects if one did not end properly. */
  close(): Promise<void>;
  /** Kills all workers immediately. */
  kill(): void;
}

export interface PrimaryOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Called if workers exit as soon as they are started. */
  readonly onHopeless: () => void;
}

/** A worker, for metrics and for the dispatcher of each port. */
interface Peer extends Measurable {
  readonly receivers: Readonly<Record<PortName, Receiver>>;
}

const PORTS: readonly PortName[] = ['service', 'operations'];

/**
 * The process that owns the port, applies migrations and keeps the workers running. It serves nothing itself:
 * requests and, except for migrations, the database are left to the workers.
 */
export function createPrimary({ config, log, onHopeless }: PrimaryOptions): Primary {
  const peers = new Map<Worker, Peer>();
  const onAcceptError = (error: Error) => log.warn({ err: error }, 'a connection cannot be accepted');
  const dispatchers = { service: new Dispatcher(onAcceptError), operations: new Dispatcher(onAcceptError) };
  /** Duty of saving the last known good state. */
  const keeping = createDuty<Worker>((worker) => tellWorker(worker, { type: 'keep' }));
  const pool = new WorkerPool({
    size: config.workers,
    config: withSharedSecret(config),
    log,
    onHopeless,
    onServing(worker) {
      const peer = peerOf(worker);
      peers.set(worker, peer);
      metrics.add(peer);
      for (const port of PORTS) dispatchers[port].add(peer.receivers[port]);
      keeping.add(worker);
    },
    onLeaving(worker) {
      withPeer(worker, ({ receivers }) => {
        for (const port of PORTS) dispatchers[port].retire(receivers[port]);
      });
      keeping.remove(worker);
    },
    onGone(worker) {
      withPeer(worker, ({ receivers }) => {
        for (const port of PORTS) dispatchers[port].remove(receivers[port]);
      });
      keeping.remove(worker);
    },
    onEnded: (worker) =>
      withPeer(worker, (peer) => {
        peers.delete(worker);
        void metrics.remove(peer);
      }),
    onMessage: heard,
  });
  const metrics = new SharedMetrics(
    createSupervisorMetrics(config.metricsPrefix, {
      workers: () => pool.serving,
      crashes: () => pool.crashes,
    }),
  );

  function peerOf(worker: Worker): Peer {
    return {
      receivers: { service: receiverOf(worker, 'service'), operations: receiverOf(worker, 'operations') },
      measure: (id) => tellWorker(worker, { type: 'measure', id }),
    };
  }

  function receiverOf(worker: Worker, port: PortName): Receiver {
    const dispatcher = dispatchers[port];
    const receiver: Receiver = {
      hand(id, socket) {
        if (worker.isConnected()) {
          tellWorker(worker, { type: 'connection', id, port }, socket);
        } else {
          dispatcher.retire(receiver);
          dispatcher.answered(receiver, id, false);
        }
      },
    };
    return receiver;
  }

  function withPeer(worker: Worker, act: (peer: Peer) => void): void {
    const peer = peers.get(worker);
    if (peer !== undefined) act(peer);
  }

  function heard(worker: Worker, message: ToPrimary): void {
    if (message.type === 'received') {
      const { id, port, taken } = message;
      withPeer(worker, ({ receivers }) => dispatchers[port].answered(receivers[port], id, taken));
    } else if (message.type === 'measured') {
      withPeer(worker, (peer) => metrics.measured(peer, message.id, message.metrics));
    } else if (message.type === 'report') {
      metrics.text().then(
        (text) => tellWorker(worker, { type: 'reported', id: message.id, text }),
        (error: unknown) => log.error({ err: error }, 'the metrics cannot be put together'),
      );
    }
  }

  return {
    async listen() {
      // Before the workers start, so that the database is ready for them.
      const isMigrated = await migrateDatabase({ config, log });
      try {
        await pool.start(isMigrated);
        const { port } = await dispatchers.service.listen(config.host, config.port);
        const address = addressText(config, port);
        if (config.operations === null) return { address };
        const { host, port: wanted } = config.operations;
        const operations = await dispatchers.operations.listen(host, wanted);
        return { address, operations: addressText({ host, tls: null }, operations.port) };
      } catch (error) {
        await pool.stop(CLOSE_LIMIT_MS);
        throw error;
      }
    },
    reload() {
      for (const worker of peers.keys()) tellWorker(worker, { type: 'reload' });
    },
    async close() {
      for (const port of PORTS) dispatchers[port].close();
      const cleanly = await pool.stop(config.limits.drainMs + CLOSE_LIMIT_MS);
      if (!cleanly) throw new Error('a worker did not end as it should');
    },
    kill: () => pool.kill(),
  };
}

/** Makes sessions valid in all workers, even if no secret is configured. */
function withSharedSecret(config: Config): Config {
  const { auth } = config;
  const sessionSecret = auth.sessionSecret ?? randomBytes(SECRET_BYTES).toString('base64url');
  return { ...config, auth: { ...auth, sessionSecret } };
}

/** A task of one of several workers: the one serving longest, then the next one when it leaves. */
export interface Duty<Worker> {
  /** Adds a serving worker. */
  add(worker: Worker): void;
  /** Removes a worker. */
  remove(worker: Worker): void;
}

/** `appoint` is called with each worker that takes over the task. */
export function createDuty<Worker>(appoint: (worker: Worker) => void): Duty<Worker> {
  const candidates = new Set<Worker>();
  let holder: Worker | undefined;
  const choose = (): void => {
    if (holder !== undefined) return;
    [holder] = candidates;
    if (holder !== undefined) appoint(holder);
  };
  return {
    add(worker) {
      candidates.add(worker);
      choose();
    },
    remove(worker) {
      candidates.delete(worker);
      if (holder !== worker) return;
      holder = undefined;
      choose();
    },
  };
}
