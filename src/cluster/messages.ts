/** What the primary and its workers tell each other. */
import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { PortName } from '../app/app.js';
import type { Config } from '../config/config.js';
import type { MeasuredMetric } from '../operations/metrics.js';

export type FromPrimary =
  /** The answer to `hello`. */
  | {
      readonly type: 'start';
      readonly config: Config;
      /** Whether the database is up to date; else it could not be used. */
      readonly isMigrated: boolean;
    }
  /** Of all workers this one saves the last known good state. */
  | { readonly type: 'keep' }
  /** Comes with a socket; answered by `received`. */
  | { readonly type: 'connection'; readonly id: number; readonly port: PortName }
  /** Answered by `measured`. */
  | { readonly type: 'measure'; readonly id: number }
  /** The answer to `report`: the metrics of all workers as text. */
  | { readonly type: 'reported'; readonly id: number; readonly text: string }
  /** The answer to `leaving`: every connection that was handed over came before it. */
  | { readonly type: 'left' }
  | { readonly type: 'stop' };

export type ToPrimary =
  | { readonly type: 'hello' }
  /** Can serve. */
  | { readonly type: 'ready' }
  /** Cannot serve and ends. */
  | { readonly type: 'failed'; readonly failure: StartFailure }
  /** Wants no more connections. Takes those that are under way until `left`, and ends when its requests have ended. */
  | { readonly type: 'leaving' }
  /** `taken` is false when the connection has to go elsewhere. */
  | { readonly type: 'received'; readonly id: number; readonly port: PortName; readonly taken: boolean }
  | { readonly type: 'measured'; readonly id: number; readonly metrics: readonly MeasuredMetric[] }
  | { readonly type: 'report'; readonly id: number };

/** Why a worker cannot start. */
export interface StartFailure {
  readonly message: string;
  /** For mistakes of ours only. */
  readonly stack?: string;
  /** The database did not answer: it may work later. */
  readonly isTemporary: boolean;
}

/** Sends to a worker. One that has gone hears nothing; its end is noticed elsewhere. */
export function tellWorker(worker: Worker, message: FromPrimary, socket?: Socket): void {
  if (!worker.isConnected()) return;
  // The primary closes its copy of a connection itself, when it knows what became of the worker's.
  worker.process.send(message, socket, { keepOpen: true }, () => {});
}

/** Sends to the primary. Resolves when it was sent or cannot be. */
export function tellPrimary(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}
