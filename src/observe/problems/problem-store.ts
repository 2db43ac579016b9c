import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type Namespace, nameOfKey } from '../../contract/call/namespace.js';
import { effectivePairs, hasEnabledControl } from '../../decide/agent-state/effective-controls.js';
import type { BulkDatabase, BulkRow } from '../../storage/database/bulk.js';
import { TRUE } from '../../storage/database/text.js';
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

/** A row of a control that is enabled. */
export interface EnabledControl {
  readonly id: number;
  readonly name: string;
  /** Changes with the definition. */
  readonly version: string;
}

export type ProblemStore = ReturnType<typeof createProblemStore>;

/** Most rows of a list: more would not be looked at. */
const MAX_ROWS = 10_000;

/** An expectation that an agent does not meet. */
export interface OverdueAgent {
  readonly agentName: string;
  /** Empty for any point. */
  readonly point: string;
  readonly intervalS: number;
  /** When it was last heard there, in seconds since 1970; null if it never was. */
  readonly lastSeenS: number | null;
}

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
  const ask = (query: Prisma.Sql) => read('statistics', query);
  return {
    /** The enabled controls, by id. */
    async controls(): Promise<EnabledControl[]> {
      const rows = await ask(Prisma.sql`
        SELECT "id", "name", "updated_at_ms" FROM "controls"
        WHERE ${isOf()} AND "deleted_at_ms" IS NULL AND "enabled" = ${true} ORDER BY "id" LIMIT ${MAX_ROWS}`);
      return rows.map(([id, name, updatedAtMs]) => ({
        id: Number(id),
        name: String(name),
        version: `${updatedAtMs} ${name}`,
      }));
    },

    /** The stored texts of controls, by id. */
    async definitions(ids: readonly number[]): Promise<Map<number, string>> {
      if (ids.length === 0) return new Map();
      const rows = await ask(Prisma.sql`
        SELECT "id", "data" FROM "controls" WHERE "id" IN (${Prisma.join([...ids])}) AND "deleted_at_ms" IS NULL`);
      return new Map(rows.map(([id, data]) => [Number(id), String(data)]));
    },

    /** The number of agents that have each control; a control that no agent has is absent. */
    async agentsOf(ids: readonly number[]): Promise<Map<number, number>> {
      if (ids.length === 0) return new Map();
      const rows = await ask(Prisma.sql`
        SELECT e."control_id", COUNT(*) FROM (${effectivePairs({ controlIds: ids })}) e GROUP BY e."control_id"`);
      return new Map(rows.map(([id, count]) => [Number(id), Number(count)]));
    },

    /** The enabled controls that ended in an error since a time, the latest first. */
    async failingControls(sinceS: number): Promise<{ id: number; name: string; lastFailedS: number }[]> {
      const rows = await ask(Prisma.sql`
        SELECT c."id", c."name", x."last_failed_s"
        FROM "control_activity" x JOIN "controls" c ON c."id" = x."control_id"
        WHERE x."last_failed_s" >= ${BigInt(sinceS)} AND ${isOf('c')} AND c."deleted_at_ms" IS NULL AND c."enabled" = ${true}
        ORDER BY x."last_failed_s" DESC, c."id" LIMIT ${MAX_ROWS}`);
      return rows.map(([id, name, at]) => ({ id: Number(id), name: String(name), lastFailedS: Number(at) }));
    },

    /** The agents with a denial in the last minutes, those with the most evaluations first. */
    async deniedAgents({ sinceS, beforeFromS, beforeToS }: CountTimes): Promise<AgentCounts[]> {
      const before = (column: 'evaluated' | 'denied') => Prisma.sql`COALESCE((
        SELECT SUM(h."${Prisma.raw(column)}") FROM "evaluation_counts" h
        WHERE h."agent_name" = r."agent_name" AND h."unit_s" = 3600
          AND h."start_s" >= ${BigInt(beforeFromS)} AND h."start_s" < ${BigInt(beforeToS)}), 0)`;
      const rows = await ask(Prisma.sql`
        SELECT r."agent_name", r."evaluated", r."denied", r."by_error", ${before('evaluated')}, ${before('denied')}
        FROM (
          SELECT "agent_name", SUM("evaluated") AS "evaluated", SUM("denied") AS "denied",
            SUM("denied_by_error") AS "by_error"
          FROM "evaluation_counts" WHERE "unit_s" = 60 AND "start_s" >= ${BigInt(sinceS)}
            AND ${of === 'all' ? TRUE : inNamespace(of)}
          GROUP BY "agent_name" HAVING SUM("denied") > 0
        ) r JOIN "agents" a ON a."name" = r."agent_name"
        ORDER BY r."evaluated" DESC, r."agent_name" LIMIT ${MAX_ROWS}`);
      return rows.map(countsOf);
    },

    /** The first names of the agents without an enabled control, and how many agents are without one. */
    async uncontrolledAgents(limit: number): Promise<{ names: string[]; count: number }> {
      const rows = await ask(Prisma.sql`
        SELECT a."name", COUNT(*) OVER () FROM "agents" a
        WHERE ${isOf('a')} AND NOT ${hasEnabledControl(Prisma.sql`a."id"`, of === 'all' ? null : { namespace: of })} ORDER BY a."name" LIMIT ${limit}`);
      return { names: rows.map(([name]) => nameOfKey(String(name))), count: Number(rows[0]?.[1] ?? 0) };
    },

    /**
     * Agents that were evaluated on at least `days` days of the week before their last evaluation, which was between
     * two times; the latest first.
     */
    async silentAgents(
      fromS: number,
      toS: number,
      days: number,
    ): Promise<{ agentName: string; lastEvaluatedS: number }[]> {
      const rows = await ask(Prisma.sql`
        SELECT x."agent_name", x."last_evaluated_s" FROM "agent_activity" x
        JOIN "agents" a ON a."name" = x."agent_name"
        WHERE ${isOf('a')} AND x."last_evaluated_s" >= ${BigInt(fromS)} AND x."last_evaluated_s" < ${BigInt(toS)}
          AND (SELECT COUNT(*) FROM "evaluation_counts" d
            WHERE d."agent_name" = x."agent_name" AND d."unit_s" = 86400
              AND d."start_s" > x."last_evaluated_s" - 604800) >= ${days}
        ORDER BY x."last_evaluated_s" DESC, x."agent_name" LIMIT ${MAX_ROWS}`);
      return rows.map(([agentName, at]) => ({
        agentName: nameOfKey(String(agentName)),
        lastEvaluatedS: Number(at),
      }));
    },

    /** Expectations that agents do not meet, the oldest first. */
    async overdueAgents(): Promise<OverdueAgent[]> {
      const rows = await ask(Prisma.sql`
        SELECT a."name", e."point", e."interval_s", (SELECT MAX(c."last_seen_s") FROM "agent_coverage" c
          WHERE c."agent_id" = e."agent_id" AND (e."point" = '' OR c."point" = e."point"))
        FROM "agent_expectations" e JOIN "agents" a ON a."id" = e."agent_id"
        WHERE e."overdue_s" IS NOT NULL AND ${isOf('a')}
        ORDER BY e."overdue_s", a."name", e."point" LIMIT ${MAX_ROWS}`);
      return rows.map(([agentName, point, intervalS, lastSeenS]) => ({
        agentName: nameOfKey(String(agentName)),
        point: String(point),
        intervalS: Number(intervalS),
        lastSeenS: lastSeenS === null || lastSeenS === undefined ? null : Number(lastSeenS),
      }));
    },

    /** Counts the registered agents by when they were last evaluated. Seconds since 1970. */
    async activity(nowS: number): Promise<AgentActivity> {
      const since = (seconds: number) => Prisma.sql`x."last_evaluated_s" >= ${BigInt(nowS - seconds)}`;
      const [row] = await ask(Prisma.sql`
        SELECT COUNT(*), COUNT(x."agent_name"), COUNT(*) FILTER (WHERE ${since(900)}),
          COUNT(*) FILTER (WHERE ${since(86_400)}), COUNT(*) FILTER (WHERE ${since(604_800)})
        FROM "agents" a LEFT JOIN "agent_activity" x ON x."agent_name" = a."name" WHERE ${isOf('a')}`);
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
      const rows = await ask(Prisma.sql`SELECT "name", "position" FROM "event_sinks"`);
      return new Map(
        rows.map(([name, position]) => [String(name), position === null ? null : BigInt(String(position))]),
      );
    },
  };
}

function countsOf(row: BulkRow): AgentCounts {
  const [agentName, ...numbers] = row;
  const [evaluated = 0, denied = 0, deniedByError = 0, evaluatedBefore = 0, deniedBefore = 0] =
    numbers.map(Number);
  return {
    agentName: nameOfKey(String(agentName)),
    evaluated,
    denied,
    deniedByError,
    evaluatedBefore,
    deniedBefore,
  };
}
