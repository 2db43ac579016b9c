/** Yardsticks of the event store: the bare driver, which stores rows and counts them one by one. */
import { randomBytes, randomUUID } from 'node:crypto';

/** @import { Kind, Raw } from './event-fill.mjs' */

const EVENTS = Number(process.env.BENCH_BARE_EVENTS ?? 100_000);
const PER_TRANSACTION = 1_000;

/**
 * A row with the members of an event.
 * @param {number} index
 */
export function bareRow(index) {
  return {
    control_execution_id: randomUUID(),
    trace_id: randomBytes(16).toString('hex'),
    span_id: randomBytes(8).toString('hex'),
    agent_name: `bench-agent-0${index % 10}`,
    control_id: index % 20,
    control_name: `bench-control-${index % 20}`,
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: index % 4 === 0,
    confidence: Math.random(),
    timestamp: new Date().toISOString(),
    execution_duration_ms: Math.random() * 10,
    evaluator_name: 'regex',
    selector_path: 'input.text',
    error_message: null,
    metadata: '{}',
  };
}

const MEMBERS = Object.keys(bareRow(0));
/** @param {string} name */
const isFloat = (name) => name === 'confidence' || name.endsWith('_ms');
/** @param {string} float */
const TABLE = (float) =>
  `CREATE TABLE bare (${MEMBERS.map((name) => `${name} ${isFloat(name) ? float : 'TEXT'}`)});
   CREATE UNIQUE INDEX bare_id ON bare (control_execution_id); CREATE INDEX bare_trace ON bare (trace_id);
   CREATE INDEX bare_span ON bare (span_id); CREATE INDEX bare_time ON bare (timestamp);
   CREATE INDEX bare_agent ON bare (agent_name, timestamp); CREATE INDEX bare_control ON bare (control_id, timestamp);`;

/** @param {string} json */
const text = (json) => `'${json.replaceAll("'", "''")}'`;
/** @satisfies {Record<Kind, (json: string) => string>} */
const INSERT = {
  sqlite: (/** @type {string} */ json) =>
    `INSERT INTO bare SELECT ${MEMBERS.map((_, index) => `value ->> ${index}`)} FROM json_each(${text(json)})`,
  postgresql: (/** @type {string} */ json) =>
    `INSERT INTO bare SELECT ${MEMBERS.map((name, index) => `(v ->> ${index})${isFloat(name) ? '::float8' : ''}`)}
     FROM jsonb_array_elements(${text(json)}::jsonb) AS v`,
};

/**
 * Events per second: the same rows with the same indexes, in transactions of 1,000, without any of the sums.
 * @param {Kind} kind
 * @param {Raw} raw
 */
export async function bareIngestRate(kind, raw) {
  await raw.execute(TABLE(kind === 'sqlite' ? 'REAL' : 'DOUBLE PRECISION'));
  const parts = Array.from({ length: EVENTS / PER_TRANSACTION }, (_, part) =>
    JSON.stringify(
      Array.from({ length: PER_TRANSACTION }, (_, index) =>
        Object.values(bareRow(part * PER_TRANSACTION + index)),
      ),
    ),
  );
  const started = performance.now();
  for (const json of parts) {
    await raw.execute(kind === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN');
    await raw.execute(INSERT[kind](json));
    await raw.execute('COMMIT');
  }
  const seconds = (performance.now() - started) / 1000;
  await raw.execute('DROP TABLE bare');
  return EVENTS / seconds;
}

/**
 * Milliseconds in which the database counts the rows of one agent themselves.
 * @param {Raw} raw
 * @param {string} agentName
 * @param {number} days
 */
export async function naiveCountMs(raw, agentName, days) {
  const fromUs = (Date.now() - days * 86_400_000) * 1000;
  const started = performance.now();
  await raw.query(
    `SELECT control_id, control_name, COUNT(*), SUM(confidence), SUM(duration_ms), COUNT(error_message)
     FROM all_events WHERE agent_name = '${agentName}' AND time_us >= ${fromUs} GROUP BY 1, 2`,
  );
  return performance.now() - started;
}
