import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** A span as the receiver got it; ids in hexadecimal, the parent's empty without one. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly nanoseconds: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: string; readonly message: string };
  readonly resource: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly description: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  readonly isMonotonic: boolean;
  readonly temporality?: string;
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly value: number;
    readonly sum?: number;
    readonly count: number;
    readonly bucketCounts: readonly number[];
    readonly bounds: readonly number[];
  }[];
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A log record; `nanoseconds` since 1970 as text. */
export interface ReceivedRecord {
  readonly nanoseconds: string;
  readonly severity: string;
  readonly severityNumber: number;
  readonly name: string;
  readonly body: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Received {
  readonly spans: readonly ReceivedSpan[];
  readonly metrics: readonly ReceivedMetric[];
  readonly records: readonly ReceivedRecord[];
  /** Of every request with telemetry. */
  readonly headers: readonly Readonly<Record<string, string>>[];
  /** Requests that were refused. */
  readonly refused: number;
}

/** A receiver of OTLP in a process of its own. */
export interface OtlpReceiver {
  readonly url: string;
  readonly port: number;
  received(): Promise<Received>;
  /** Sets the HTTP status of later answers. */
  answer(status: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a receiver; on a free port unless one is given. */
export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const module = path.join(import.meta.dirname, 'otlp-receiver.mjs');
  const child = spawn(process.execPath, [module, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([once(child.stdout, 'data'), exited])) as [Buffer | number];
  if (!Buffer.isBuffer(line)) throw new Error(`the receiver ended with ${line}`);
  const used = Number(line.toString());
  const url = `http://127.0.0.1:${used}`;
  return {
    url,
    port: used,
    received: async () => (await (await fetch(`${url}/received`)).json()) as Received,
    async answer(status) {
      await fetch(`${url}/answer/${status}`, { method: 'POST' });
    },
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
