import { ROLLUP_LEVELS, type RollupLevel } from '../../../src/observe/events/store/rollup-levels.js';
import { SUMS, type Sum } from '../../../src/observe/events/store/rollup-sums.js';

/** Starts of 65,536 ms in a duration. */
const HIGH = 'if(duration_ms >= 65536, floor(duration_ms / 65536.0), 0)';
const isKind = (facets: number) => `bitAnd(facets, 25) = ${facets}`;
const MATCHED = 'bitAnd(facets, 1) = 1';
const NO_ERROR = 'isNull(error_message)';

/**
 * What one row adds to the sums of a rollup, before its sign is applied: the same as `CONTRIBUTION` of the SQL
 * databases, where it is explained.
 */
const CONTRIBUTION: Record<Sum, string> = {
  executions: '1',
  matches: `(${MATCHED} AND ${NO_ERROR})`,
  non_matches: `(NOT ${MATCHED} AND ${NO_ERROR})`,
  errors: 'isNotNull(error_message)',
  denies: `(${isKind(1)})`,
  steers: `(${isKind(9)})`,
  observes: `(${isKind(17)})`,
  confidence_nano: 'toInt64(round(confidence * 1000000000.0))',
  durations: 'isNotNull(duration_ms)',
  duration_high: `toInt64(ifNull(${HIGH}, 0))`,
  duration_low: `toInt64(round(ifNull(duration_ms - 65536.0 * ${HIGH}, 0) * 1000000.0))`,
};

/** Names of the sums, in the order of every statement below. */
export const SUM_NAMES = SUMS.join(', ');
const KEY_NAMES = 'unit_s, start_s, agent_name, control_id, control_name';
/** Columns that the contributions and keys are read from. */
const READ_NAMES =
  'sign, time_us, agent_name, control_id, control_name, facets, error_message, confidence, duration_ms';

/** Sums by second of the rows of a subquery. */
function sumsBySecond(rows: string): string {
  const sums = SUMS.map((name) => `sum(toInt64(sign * ${CONTRIBUTION[name]})) AS sum_of_${name}`);
  return `
    SELECT intDiv(time_us - positiveModulo(time_us, 1000000), 1000000) AS second, agent_name, control_id,
      control_name, ${sums.join(', ')}
    FROM (${rows}) GROUP BY second, agent_name, control_id, control_name`;
}

const UNIT = 'toUInt32(level.1)';
const START = '(second - positiveModulo(second, level.1))';
/** Names of the columns of the queries below, which can be added to the rollups as they are. */
const KEYS = 'unit, start, agent, control, name';
const sumName = (index: number) => `sum_${index}`;
const SUMMED = SUMS.map((_, index) => `sum(${sumName(index)})`).join(', ');

/** The rollups of the rows of a subquery. Rows for which `from` is too old for a level are omitted from it. */
function rollupsOf(rows: string, levels: readonly RollupLevel[], nowS: number, from: string): string {
  const list = levels.map(({ unitS, keptS }) => `(${unitS}, toInt64(${nowS - keptS}))`);
  const sums = SUMS.map((name, index) => `sum(sum_of_${name}) AS ${sumName(index)}`);
  return `
    SELECT ${UNIT} AS unit, ${START} AS start, agent_name AS agent, control_id AS control, control_name AS name,
      ${sums.join(', ')}
    FROM (${sumsBySecond(rows)}) ARRAY JOIN [${list.join(', ')}] AS level
    WHERE ${from} >= level.2 GROUP BY ${KEYS}`;
}

/** The rows that a batch has added: new events, and the pairs that replace an event by its merged form. */
export function rowsOfBatch(batch: bigint, columns: string): string {
  // A new row cannot have been cancelled before its batch was complete.
  return `
    SELECT ${columns} FROM events WHERE batch = ${batch} AND sign = 1 AND version = 0
    UNION ALL SELECT ${columns} FROM event_changes WHERE batch = ${batch}`;
}

const INSERT = `INSERT INTO event_rollups (${KEY_NAMES}, ${SUM_NAMES})`;

/** Adds the rows of a batch to the rollups. */
export function addBatchToRollups(batch: bigint, nowS: number): string {
  return `${INSERT} ${rollupsOf(rowsOfBatch(batch, READ_NAMES), ROLLUP_LEVELS, nowS, 'second')}`;
}

/** A part of the rollups, in seconds since 1970; `toS` is exclusive. Multiples of the longest unit in question. */
export interface RollupSpan {
  readonly fromS: number;
  readonly toS: number;
}

/** What is to be added to the rollups of a span to agree with `wanted`, without rollups too old for their level. */
function differences(wanted: string, levels: readonly RollupLevel[], span: RollupSpan, nowS: number): string {
  const stored = levels.map(
    ({ unitS, keptS }) => `(unit_s = ${unitS} AND start_s >= ${Math.max(span.fromS, nowS - keptS)})`,
  );
  const negated = SUMS.map((name, index) => `-${name} AS ${sumName(index)}`);
  const differ = SUMS.map((_, index) => `sum(${sumName(index)}) != 0`);
  return `
    SELECT ${KEYS}, ${SUMMED} FROM (
      ${wanted}
      UNION ALL
      SELECT unit_s AS unit, start_s AS start, agent_name AS agent, control_id AS control, control_name AS name,
        ${negated.join(', ')}
      FROM event_rollups WHERE (${stored.join(' OR ')}) AND start_s < ${span.toS}
    ) GROUP BY ${KEYS} HAVING ${differ.join(' OR ')}`;
}

/** A query of wrong rollups with what has to be added, and the statement that adds it. */
export interface Correction {
  readonly query: string;
  readonly statement: string;
}

const correction = (query: string): Correction => ({ query, statement: `${INSERT} ${query}` });

/** Compares the rollups of up to an hour with the events of whole hours. */
export function hourCorrection(span: RollupSpan, nowS: number): Correction {
  const levels = ROLLUP_LEVELS.filter(({ unitS }) => unitS <= 3_600);
  const rows = `
    SELECT ${READ_NAMES} FROM events WHERE time_us >= ${span.fromS}000000 AND time_us < ${span.toS}000000`;
  return correction(differences(rollupsOf(rows, levels, nowS, START), levels, span, nowS));
}

/** Compares the rollups of days with those of their hours. */
export function dayCorrection(span: RollupSpan, nowS: number): Correction {
  const levels = ROLLUP_LEVELS.filter(({ unitS }) => unitS > 3_600);
  const [{ unitS, keptS } = { unitS: 86_400, keptS: 0 }] = levels;
  const start = `(start_s - positiveModulo(start_s, ${unitS}))`;
  const sums = SUMS.map((name, index) => `sum(${name}) AS ${sumName(index)}`);
  const wanted = `
    SELECT toUInt32(${unitS}) AS unit, ${start} AS start, agent_name AS agent, control_id AS control,
      control_name AS name, ${sums.join(', ')}
    FROM event_rollups
    WHERE unit_s = 3600 AND start_s >= ${span.fromS} AND start_s < ${span.toS} AND ${start} >= ${nowS - keptS}
    GROUP BY ${KEYS}`;
  return correction(differences(wanted, levels, span, nowS));
}
