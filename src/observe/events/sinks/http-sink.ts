import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpSinkConfig } from '../../../contract/config/config-sinks.js';
import { portionsOf } from '../../../storage/database/in-portions.js';
import type { TailEvent } from '../store/event-tail.js';
import type { EventSink } from './event-sink.js';
import { httpFormat } from './formats/http-format.js';
import type { ExportSource } from './formats/plain-event.js';
import { openForwarding } from './forwarding-session.js';
import { createHttpClient, RefusedDelivery } from './http-exchange.js';

/** Longest time until a receiver has answered, in milliseconds. */
const ANSWER_LIMIT_MS = 30_000;
/** Requests under way at once where each has one event; with several events, there is one at a time. */
const SINGLE_REQUESTS = 8;
/** Longest pause that a receiver may ask for, in milliseconds. */
const LONGEST_WAIT_MS = 600_000;

/** The status of a request that is too large for the receiver. */
const TOO_LARGE = 413;

const compress = promisify(gzip);

export interface HttpSinkOptions {
  readonly config: HttpSinkConfig;
  readonly source: () => ExportSource;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** See `ANSWER_LIMIT_MS`. */
  readonly limitMs?: number;
  /** Waits, in milliseconds. Rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const waitFor: NonNullable<HttpSinkOptions['wait']> = (ms, signal) =>
  pause(ms, undefined, { signal, ref: false });

/**
 * A receiver of HTTP, which gets events in one of the formats of `formats`. Delivery is at least once: what it did not
 * answer with 2xx is sent again, from the last stored position.
 */
export function createHttpSink(options: HttpSinkOptions): EventSink {
  const { config, source, now, limitMs = ANSWER_LIMIT_MS, wait = waitFor } = options;
  const format = httpFormat(config);
  const requests = format.events === 1 ? SINGLE_REQUESTS : 1;
  /** The receiver asked to send nothing before, milliseconds since 1970. */
  let waitUntilMs = 0;

  return {
    name: 'http',
    async open(stored, first, signal) {
      // With the lease, so that no other process sends meanwhile.
      const waitMs = Math.min(waitUntilMs - now(), LONGEST_WAIT_MS);
      if (waitMs > 0) await wait(waitMs, signal);
      waitUntilMs = 0;
      const client = createHttpClient({
        url: config.url,
        ca: config.caFile === null ? null : await readFile(config.caFile, 'utf8'),
        connections: requests,
        limitMs,
        now,
        signal,
      });
      const from = source();

      async function post(events: readonly TailEvent[]): Promise<void> {
        const { headers, body } = format.write(events, from);
        const octets = config.gzip ? await compress(body) : Buffer.from(body);
        const encoding = config.gzip ? { 'content-encoding': 'gzip' } : {};
        const agent = { 'user-agent': 'control-enforcement-service' };
        await client.post({ ...agent, ...config.headers, ...headers, ...encoding }, octets);
      }

      /** In halves if the receiver does not take them together. */
      async function postAsTaken(events: readonly TailEvent[]): Promise<void> {
        try {
          await post(events);
        } catch (error) {
          if (!(error instanceof RefusedDelivery && error.status === TOO_LARGE && events.length > 1))
            throw error;
          for (const half of portionsOf(events, Math.ceil(events.length / 2))) await postAsTaken(half);
        }
      }

      async function send(events: readonly TailEvent[], reached: (position: bigint) => void): Promise<void> {
        try {
          for (const group of portionsOf(events, requests * format.events)) {
            await Promise.all([...portionsOf(group, format.events)].map(postAsTaken));
            reached(group.at(-1)?.position ?? 0n);
          }
        } catch (error) {
          const asked = error instanceof RefusedDelivery ? error.retryAfterMs : 0;
          if (asked > 0) waitUntilMs = now() + asked;
          throw error;
        }
      }

      return openForwarding({ sender: client, connect: async () => stored ?? first(), send }, signal);
    },
  };
}
