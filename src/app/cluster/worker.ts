import cluster from 'node:cluster';
import type { Socket } from 'node:net';
import type { Config } from '../../contract/config/config.js';
import { ServiceError } from '../../contract/errors/service-error.js';
import { explanation, isOurMistake } from '../../contract/runtime/start-error.js';
import { createLogger, type ServiceLog } from '../process/logger.js';
import type { Signals } from '../process/signals.js';
import { STOP_NOTICE_MS } from '../process/stop-on-signals.js';
import { type App, createApp, type PortName } from '../wiring/app.js';
import { type FromPrimary, type StartFailure, tellPrimary } from './messages.js';

/** Time limit for the metrics of all workers, in milliseconds: longer than the primary waits for each. */
const REPORT_LIMIT_MS = 5_000;
/**
 * Time limit for the primary to stop handing out connections, in milliseconds. Later ones are returned,
 * unless the process has exited by then.
 */
const LEAVE_LIMIT_MS = 2_000;

/** Serves as one of several processes; connections, configuration and stop requests come from the primary. */
export function runWorker(signals: Signals): void {
  const reports = new Map<number, (text: string) => void>();
  let lastReport = 0;
  let app: App | undefined;
  /** Settled when the app is ready or cannot be. */
  let getsReady: Promise<void> | undefined;
  let serviceLog: ServiceLog | undefined;
  let stopping = false;
  let closing = false;
  let onLeft = () => {};

  function allMetrics(): Promise<string> {
    lastReport += 1;
    const id = lastReport;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        reports.delete(id);
        const detail = 'The metrics of the other processes cannot be had.';
        reject(new ServiceError('SERVICE_UNAVAILABLE', { detail, retryAfterSeconds: 1 }));
      }, REPORT_LIMIT_MS);
      reports.set(id, (text) => {
        clearTimeout(limit);
        reports.delete(id);
        resolve(text);
      });
      void tellPrimary({ type: 'report', id });
    });
  }

  async function start(config: Config, isMigrated: boolean): Promise<void> {
    serviceLog = createLogger(config.log, process.pid);
    signals.logIgnored(serviceLog.log);
    try {
      app = await createApp({ config, log: serviceLog.log, shared: { isMigrated, allMetrics } });
      getsReady = app.ready();
      await getsReady;
      if (!stopping) await tellPrimary({ type: 'ready' });
    } catch (error) {
      // The process is stopping; nothing waits for it to be ready.
      if (stopping) return;
      // The primary reports it, once for all workers.
      await tellPrimary({ type: 'failed', failure: startFailure(error) });
      process.exit(1);
    }
  }

  function connection(id: number, port: PortName, socket: Socket | undefined): void {
    const taken = !closing && app !== undefined;
    void tellPrimary({ type: 'received', id, port, taken });
    // Nothing was read from it yet, so the next receiver misses nothing.
    if (!taken) socket?.destroy();
    else if (socket !== undefined) app?.accept(socket, port);
  }

  async function measure(id: number): Promise<void> {
    if (app !== undefined) await tellPrimary({ type: 'measured', id, metrics: await app.measure() });
  }

  /** Resolves when no more connections arrive. Those already sent by the primary are served normally. */
  function leave(): Promise<void> {
    return new Promise((resolve) => {
      const limit = setTimeout(resolve, LEAVE_LIMIT_MS);
      onLeft = () => {
        clearTimeout(limit);
        resolve();
      };
      if (process.connected) void tellPrimary({ type: 'leaving' });
      else onLeft();
    });
  }

  /** Runs once: after Ctrl-C both the terminal and the primary ask the worker to stop. */
  async function stop(): Promise<void> {
    if (stopping) return;
    stopping = true;
    await leave();
    closing = true;
    if (app === undefined) process.exit(0);
    try {
      await getsReady;
      await app.close({ noticeMs: STOP_NOTICE_MS });
      // The counts since the last request of the primary.
      await measure(0);
      await serviceLog?.flushed();
      process.exit(0);
    } catch (error) {
      serviceLog?.log.error({ err: error }, 'stopped with an error');
      await serviceLog?.flushed();
      process.exit(1);
    }
  }

  process.on('message', (message: FromPrimary, socket?: Socket) => {
    if (message.type === 'start') void start(message.config, message.isMigrated);
    else if (message.type === 'keep') app?.keep();
    else if (message.type === 'connection') connection(message.id, message.port, socket);
    else if (message.type === 'measure') void measure(message.id);
    else if (message.type === 'reported') reports.get(message.id)?.(message.text);
    else if (message.type === 'left') onLeft();
    else if (message.type === 'reload') app?.reload();
    else if (message.type === 'stop') void stop();
  });
  signals.onStop(() => void stop());
  const { worker } = cluster;
  worker?.on('disconnect', () => {
    // Without a primary there are no new connections. Without this flag, Node.js would end the worker here.
    worker.exitedAfterDisconnect = true;
    if (!stopping) serviceLog?.log.error({}, 'the primary process is gone; finishing running requests');
    onLeft();
    void stop();
  });
  void tellPrimary({ type: 'hello' });
}

function startFailure(error: unknown): StartFailure {
  return {
    message: explanation(error),
    ...(isOurMistake(error) && error.stack !== undefined ? { stack: error.stack } : {}),
    isTemporary: error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE',
  };
}
