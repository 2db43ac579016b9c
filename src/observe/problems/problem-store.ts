import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Namespace, nameOfKey } from '../../contract/call/namespace.js';
import { effectivePairs, hasEnabledControl } from '../../decide/agent-state/effective-controls.js';
import type { BulkDatabase } from '../../storage/database/bulk.js';
import {
  bigint,
  type Columns,
  columns,
  from,
  mapped,
  nullable,
  number,
  type ReadRow,
  select,
  text,
} from '../../storage/database/rows.js';
import { TRUE } from '../../storage/database/text.js';
import { HEARD_S } from '../coverage/expectation-store.js';
import { inNamespace } from '../events/sql/event-conditions.js';

/** What an agent's evaluations of the last minutes were, and of the day before them. */
export interface AgentCounts {
  readonly agentName: string;
  readonly evaluated: number;
  readonly denied: number;
  /** Those of the denied that only an error of a deny control denies. */
  readonly deniedByError: number;
  readonly evaluatedBefore: number;
  readonly deniedBefore: number;
}

/** Times in seconds since 1970. */
export interface CountTimes {
  /** Minutes from this one on are the last ones. */
  readonly sinceS: number;
  /** Hours from this one on, and before the next, are the day before. */
  readonly beforeFromS: number;
  readonly beforeToS: number;
}

export type ProblemStore = ReturnType<typeof createProblemStore>;

/** Most rows of a list: more would not be looked at. */
const MAX_ROWS = 10_000;

const agentName = mapped(text, nameOfKey);

const CONTROL = columns({
  id: number,
  name: text,
  /** Changes with the definition. */
  version: from(Prisma.sql`CAST("updated_at_ms" AS TEXT) || ' ' || "name"`, text),
});
/** A row of a control that is enabled. */
export type EnabledControl = ReadRow<typeof CONTROL>;

const DEFINITION = columns({ id: number, data: text });
const AGENTS = columns({ controlId: number, agents: from(Prisma.sql`COUNT(*)`, number) });
const FAILING = columns(
  { id: number, name: text, lastFailedS: from(Prisma.sql`x."last_failed_s"`, number) },
  'c',
);
const UNCONTROLLED = columns({ name: agentName, count: from(Prisma.sql`COUNT(*) OVER ()`, number) }, 'a');
const SILENT = columns({ agentName, lastEvaluatedS: number }, 'x');
const SINK = columns({ name: text, position: nullable(bigint) });
const OVERDUE = columns(
  {
    agentName: from(Prisma.sql`a."name"`, agentName),
    /** Empty for any point. */
    point: text,
    intervalS: number,
    /** When it was last heard there, in seconds since 1970; null if it never was. */
    lastSeenS: HEARD_S,
  },
  'e',
);

/** An expectation that an agent does not meet. */
export type OverdueAgent = ReadRow<typeof OVERDUE>;

/** Number of agents by when they were last evaluated; each agent is counted once. */
export interface AgentActivity {
  readonly quarterHour: number;
  readonly day: number;
  readonly week: number;
  readonly older: number;
  readonly never: number;
}

/**
 * What the database tells of the controls and agents of a namespace, or of all. Agents have their names in it. No query is
 * a part of an evaluation or a change.
 */
export function createProblemStore({ read }: Pick<BulkDatabase, 'read'>, of: Namespace | 'all') {
  /** Condition on a row of an agent or a control. */
  const isOf = (row?: 'a' | 'c') => {
    const column = Prisma.raw(row === undefined ? '"namespace"' : `${row}."namespace"`);
    return of === 'all' ? TRUE : Prisma.sql`${column} = ${of.name}`;
  };
  const ask = <Row>(asked: Columns<Row>) => select(asked, { read }, 'statistics');
  return {
    /** The enabled controls, by id. */
    controls: (): Promise<EnabledControl[]> =>
      ask(CONTROL)`
        FROM "controls" WHERE ${isOf()} AND "deleted_at_ms" IS NULL AND "enabled" = ${true} ORDER BY "id" LIMIT ${MAX_ROWS}`,

    /** The stored texts of controls, by id. */
    async definitions(ids: readonly number[]): Promise<Map<number, string>> {
      if (ids.length === 0) return new Map();
      const rows = await ask(DEFINITION)`
        FROM "controls" WHERE "id" IN (${Prisma.join([...ids])}) AND "deleted_at_ms" IS NULL`;
      return new Map(rows.map(({ id, data }) => [id, data]));
    },

    /** The number of agents that have each control; a control that no agent has is absent. */
    async agentsOf(ids: readonly number[]): Promise<Map<number, number>> {
      if (ids.length === 0) return new Map();
      const rows = await ask(AGENTS)`FROM (${effectivePairs({ controlIds: ids })}) e GROUP BY "control_id"`;
      return new Map(rows.map(({ controlId, agents }) => [controlId, agents]));
    },

    /** The enabled controls that ended in an error since a time, the latest first. */
    failingControls: (sinceS: number): Promise<ReadRow<typeof FAILING>[]> =>
      ask(FAILING)`
        FROM "control_activity" x JOIN "controls" c ON c."id" = x."control_id"
        WHERE x."last_failed_s" >= ${BigInt(sinceS)} AND ${isOf('c')} AND c."deleted_at_ms" IS NULL AND c."enabled" = ${true}
        ORDER BY x."last_failed_s" DESC, c."id" LIMIT ${MAX_ROWS}`,

    /** The agents with a denial in the last minutes, those with the most evaluations first. */
    deniedAgents({ sinceS, beforeFromS, beforeToS }: CountTimes): Promise<AgentCounts[]> {
      const before = (column: 'evaluated' | 'denied') => Prisma.sql`COALESCE((
        SELECT SUM(h."${Prisma.raw(column)}") FROM "evaluation_counts" h
        WHERE h."agent_name" = r."agent_name" AND h."unit_s" = 3600
          AND h."start_s" >= ${BigInt(beforeFromS)} AND h."start_s" < ${BigInt(beforeToS)}), 0)`;
      const denied = {
        agentName,
        evaluated: number,
        denied: number,
        deniedByError: number,
        evaluatedBefore: from(before('evaluated'), number),
        deniedBefore: from(before('denied'), number),
      };
      return ask(columns(denied, 'r'))`
        FROM (
          SELECT "agent_name", SUM("evaluated") AS "evaluated", SUM("denied") AS "denied",
            SUM("denied_by_error") AS "denied_by_error"
          FROM "evaluation_counts" WHERE "unit_s" = 60 AND "start_s" >= ${BigInt(sinceS)}
            AND ${of === 'all' ? TRUE : inNamespace(of)}
          GROUP BY "agent_name" HAVING SUM("denied") > 0
        ) r JOIN "agents" a ON a."name" = r."agent_name"
        ORDER BY r."evaluated" DESC, r."agent_name" LIMIT ${MAX_ROWS}`;
    },

    /** The first names of the agents without an enabled control, and how many agents are without one. */
    async uncontrolledAgents(limit: number): Promise<{ names: string[]; count: number }> {
      const rows = await ask(UNCONTROLLED)`
        FROM "agents" a
        WHERE ${isOf('a')} AND NOT ${hasEnabledControl(Prisma.sql`a."id"`, of === 'all' ? null : { namespace: of })} ORDER BY a."name" LIMIT ${limit}`;
      return { names: rows.map(({ name }) => name), count: rows[0]?.count ?? 0 };
    },

    /**
     * Agents that were evaluated on at least `days` days of the week before their last evaluation, which was between
     * two times; the latest first.
     */
    silentAgents: (fromS: number, toS: number, days: number): Promise<ReadRow<typeof SILENT>[]> =>
      ask(SILENT)`
        FROM "agent_activity" x
        JOIN "agents" a ON a."name" = x."agent_name"
        WHERE ${isOf('a')} AND x."last_evaluated_s" >= ${BigInt(fromS)} AND x."last_evaluated_s" < ${BigInt(toS)}
          AND (SELECT COUNT(*) FROM "evaluation_counts" d
            WHERE d."agent_name" = x."agent_name" AND d."unit_s" = 86400
              AND d."start_s" > x."last_evaluated_s" - 604800) >= ${days}
        ORDER BY x."last_evaluated_s" DESC, x."agent_name" LIMIT ${MAX_ROWS}`,

    /** Expectations that agents do not meet, the oldest first. */
    overdueAgents: (): Promise<OverdueAgent[]> =>
      ask(OVERDUE)`
        FROM "agent_expectations" e JOIN "agents" a ON a."id" = e."agent_id"
        WHERE e."overdue_s" IS NOT NULL AND ${isOf('a')}
        ORDER BY e."overdue_s", a."name", e."point" LIMIT ${MAX_ROWS}`,

    /** Counts the registered agents by when they were last evaluated. Seconds since 1970. */
    async activity(nowS: number): Promise<AgentActivity> {
      const since = (seconds: number) => Prisma.sql`x."last_evaluated_s" >= ${BigInt(nowS - seconds)}`;
      const [row] = await read(
        'statistics',
        Prisma.sql`
          SELECT COUNT(*), COUNT(x."agent_name"), COUNT(*) FILTER (WHERE ${since(900)}),
            COUNT(*) FILTER (WHERE ${since(86_400)}), COUNT(*) FILTER (WHERE ${since(604_800)})
          FROM "agents" a LEFT JOIN "agent_activity" x ON x."agent_name" = a."name" WHERE ${isOf('a')}`,
      );
      const [all = 0, ever = 0, quarterHour = 0, day = 0, week = 0] = (row ?? []).map(Number);
      return {
        quarterHour,
        day: day - quarterHour,
        week: week - day,
        older: ever - week,
        never: all - ever,
      };
    },

    /** The positions of sinks, by name; null before the first one is known. */
    async sinkPositions(): Promise<Map<string, bigint | null>> {
      const rows = await ask(SINK)`FROM "event_sinks"`;
      return new Map(rows.map(({ name, position }) => [name, position]));
    },
  };
}
