/** Messages between the primary and its workers. */
import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { Config } from '../../contract/config/config.js';
import type { MeasuredMetric } from '../operations/metrics.js';
import type { PortName } from '../wiring/app.js';

export type FromPrimary =
  /** The answer to `hello`. */
  | {
      readonly type: 'start';
      readonly config: Config;
      /** Whether the database is migrated; if not, it could not be used. */
      readonly isMigrated: boolean;
    }
  /** Selects this worker to save the last known good state. */
  | { readonly type: 'keep' }
  /** Sent with a socket; answered by `received`. */
  | { readonly type: 'connection'; readonly id: number; readonly port: PortName }
  /** Answered by `measured`. */
  | { readonly type: 'measure'; readonly id: number }
  /** The answer to `report`: the metrics of all workers as text. */
  | { readonly type: 'reported'; readonly id: number; readonly text: string }
  /** The answer to `leaving`: sent after every connection that was handed over. */
  | { readonly type: 'left' }
  /** Asks to read the files again that may change while the service runs. */
  | { readonly type: 'reload' }
  | { readonly type: 'stop' };

export type ToPrimary =
  | { readonly type: 'hello' }
  /** The worker can serve. */
  | { readonly type: 'ready' }
  /** The worker cannot serve and exits. */
  | { readonly type: 'failed'; readonly failure: StartFailure }
  /** The worker accepts no more connections. It takes pending ones until `left`, then finishes and exits. */
  | { readonly type: 'leaving' }
  /** `taken` is false if the connection has to go elsewhere. */
  | { readonly type: 'received'; readonly id: number; readonly port: PortName; readonly taken: boolean }
  | { readonly type: 'measured'; readonly id: number; readonly metrics: readonly MeasuredMetric[] }
  | { readonly type: 'report'; readonly id: number };

/** Why a worker failed to start. */
export interface StartFailure {
  readonly message: string;
  /** Only for programming errors. */
  readonly stack?: string;
  /** The database did not answer: a later start may succeed. */
  readonly isTemporary: boolean;
}

/** Sends to a worker. Does nothing if it has exited, which is handled elsewhere. */
export function tellWorker(worker: Worker, message: FromPrimary, socket?: Socket): void {
  if (!worker.isConnected()) return;
  // The primary closes its copy of a connection itself, after the worker's answer.
  worker.process.send(message, socket, { keepOpen: true }, () => {});
}

/** Sends to the primary. Resolves when the message is sent or cannot be. */
export function tellPrimary(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}
