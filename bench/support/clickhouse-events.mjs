/** Events in ClickHouse for the benchmark: filling the store, and the bare client as the yardstick. */
import { randomUUID } from 'node:crypto';
import { createClient } from '@clickhouse/client';
import { bareRow } from './bare-events.mjs';
import { turnOf } from './core-steps.mjs';
import { AGENTS, CONTROLS, DAYS } from './event-fill.mjs';

const GROUP = 20_000;
const BARE_EVENTS = 400_000;

/**
 * @import { ControlEvent } from '../../dist/src/observe/events/store/event.js'
 * @import { EventTime } from '../../dist/src/observe/events/store/event-time.js'
 */

/** @type {readonly ControlEvent['action'][]} */
const ACTIONS = ['deny', 'steer', 'observe'];

/**
 * The members of an event that follow from its number: few texts, as agents send them.
 * @param {number} index
 * @param {EventTime} timestamp
 * @returns {ControlEvent}
 */
function eventOf(index, timestamp) {
  return {
    origin: 'client',
    control_execution_id: randomUUID(),
    trace_id: randomUUID().replaceAll('-', ''),
    span_id: randomUUID().slice(0, 8),
    agent_name: `bench-agent-0${index % AGENTS}`,
    control_id: Math.floor(index / AGENTS) % CONTROLS,
    control_name: `bench-control-${Math.floor(index / AGENTS) % CONTROLS}`,
    check_stage: index % 2 === 0 ? 'pre' : 'post',
    applies_to: index % 5 === 0 ? 'tool_call' : 'llm_call',
    action: turnOf(ACTIONS, index),
    matched: index % 4 === 0,
    confidence: (index % 1000) / 1000,
    timestamp,
    execution_duration_ms: (index % 100) / 8,
    evaluator_name: 'regex',
    selector_path: 'input.text',
    error_message: null,
    metadata: {},
    step_type: null,
    step_name: null,
    session_id: null,
    step_id: null,
    revision: null,
    decision_id: null,
  };
}

/**
 * Stores `count` events, spread over `DAYS` days that end at `nowMs`, with the store of the service.
 * @param {{ url: string, databaseUrl: string, count: number, nowMs: number }} options `url` has the name of the database
 */
export async function fillClickHouse({ url, databaseUrl, count, nowMs }) {
  const { openDatabase } = await import('../../dist/src/storage/database/database.js');
  const { createClickHouseEventStore } = await import('../../dist/packages/events-clickhouse/src/index.js');
  const { utcTimeOfMs } = await import('../../dist/src/observe/events/store/event-time.js');
  const database = await openDatabase({ url: databaseUrl });
  const store = createClickHouseEventStore({ location: locationOf(url), database, now: Date.now });
  const stepMs = (DAYS * 86_400_000) / count;
  try {
    for (let first = 0; first < count; first += GROUP) {
      const length = Math.min(GROUP, count - first);
      const events = Array.from({ length }, (_, index) =>
        store.encode(
          eventOf(first + index, utcTimeOfMs(Math.floor(nowMs - (count - first - index) * stepMs))),
        ),
      );
      await store.write(events);
    }
    const { corrected } = count > 100_000 ? { corrected: 0 } : await store.rebuildStatistics();
    if (corrected > 0) throw new Error(`the fill is wrong: ${corrected} sums`);
  } finally {
    await store.close();
    await database.close();
  }
}

/** @param {string} url */
function locationOf(url) {
  const { host, pathname } = new URL(url);
  return {
    url: `http://${host}`,
    username: 'default',
    password: '',
    database: pathname.slice(1),
    isReplicated: false,
  };
}

/**
 * The bare client on the database of `url`.
 * @param {string} url
 */
export function openClickHouse(url) {
  const { host, pathname } = new URL(url);
  const client = createClient({ url: `http://${host}`, database: pathname.slice(1) });
  return {
    /** Events per second: the same rows ordered by time, without ids, sums or lease, in groups of the same size. */
    async bareRate() {
      const members = Object.entries(bareRow(0)).map(
        ([name, value]) => `${name} ${typeof value === 'number' ? 'Float64' : 'Nullable(String)'}`,
      );
      await client.command({
        query: `CREATE TABLE bare (${members}) ENGINE = MergeTree ORDER BY timestamp SETTINGS allow_nullable_key = 1`,
      });
      const groups = Array.from({ length: BARE_EVENTS / GROUP }, (_, group) =>
        Array.from({ length: GROUP }, (_, index) => bareRow(group * GROUP + index)),
      );
      const started = performance.now();
      for (const values of groups) {
        await client.insert({ table: 'bare', values, format: 'JSONEachRow' });
      }
      const seconds = (performance.now() - started) / 1000;
      await client.command({ query: 'DROP TABLE bare' });
      return BARE_EVENTS / seconds;
    },
    /**
     * Milliseconds in which the rows of one agent are counted themselves.
     * @param {string} agentName
     * @param {number} days
     */
    async naiveMs(agentName, days) {
      const fromUs = (Date.now() - days * 86_400_000) * 1000;
      const started = performance.now();
      const reply = await client.query({
        query: `SELECT control_id, control_name, sum(sign), sum(confidence * sign), sum(duration_ms * sign),
            sumIf(sign, isNotNull(error_message))
          FROM events WHERE agent_name = '${agentName}' AND time_us >= ${fromUs} GROUP BY 1, 2`,
      });
      await reply.text();
      return performance.now() - started;
    },
    close: () => client.close(),
  };
}
