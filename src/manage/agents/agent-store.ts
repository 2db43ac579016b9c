import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AgentKey, nameOfKey } from '../../contract/call/namespace.js';
import { effectivePairs } from '../../decide/agent-state/effective-controls.js';
import { storedMode } from '../../decide/agent-state/registered-schemas.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, type Page } from '../../storage/database/page.js';
import {
  type Column,
  columns,
  mapped,
  nullable,
  number,
  type ReadRow,
  text,
} from '../../storage/database/rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { assertStorable, isStorable, TRUE } from '../../storage/database/text.js';
import { type AgentFilters, agentPageQuery } from './agent-page.js';

export type { AgentFilters } from './agent-page.js';

const AGENT = columns({
  id: number,
  name: text as Column<AgentKey>,
  /** JSON text of the registration. */
  data: text,
  /** Milliseconds since the epoch. */
  createdAtMs: number,
  /** When a client first requested its controls, in milliseconds since the epoch; null if never. */
  controlsAskedAtMs: nullable(number),
  /** Counts its stored registrations, from 1. */
  version: number,
  /** How its steps are compared with their registered schemas; null as the service is set. */
  stepSchemas: nullable(mapped(text, storedMode)),
});

/** A stored agent. */
export interface AgentRow extends Omit<ReadRow<typeof AGENT>, 'name'> {
  readonly name: string;
  /** Identifies it among the agents of all namespaces. */
  readonly key: AgentKey;
}

/** An agent to be stored. */
export type NewAgent = Pick<AgentRow, 'name' | 'data' | 'createdAtMs'>;

/** A stored agent without its registration. */
export interface KnownAgent {
  readonly id: number;
  readonly name: string;
  readonly key: AgentKey;
  /** Null when no client has requested its controls. */
  readonly controlsAskedAtMs: bigint | null;
}

/** Number of the links that an agent had. */
export interface RemovedLinks {
  readonly controls: number;
  readonly policies: number;
}

const ACTIVITY = columns({ lastEvaluatedS: number, lastDeniedS: nullable(number) });
/** When an agent was last active, in seconds since the epoch. */
export type AgentActivity = ReadRow<typeof ACTIVITY>;

/**
 * Stored agents of a namespace, by their plain names. Writing needs the client of a mutation. Every method rejects with a
 * `ServiceError` only.
 */
export function createAgentStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const keysOf = (names: readonly string[]) => names.map((name) => namespace.agentKey(name));
  return {
    find: (name: string): Promise<AgentRow | null> =>
      withServiceErrors(async () => {
        if (!isStorable(name)) return null;
        const row = await client.agent.findUnique({ where: { name: namespace.agentKey(name), ...of } });
        return row === null ? null : toRow(row);
      }),

    /** Those of up to 1,000 names that exist, without their registrations. */
    findAll: (names: readonly string[]): Promise<KnownAgent[]> =>
      withServiceErrors(async () => {
        const rows = await client.agent.findMany({
          where: { name: { in: keysOf(names.filter(isStorable)) }, ...of },
          select: { id: true, name: true, controlsAskedAtMs: true },
        });
        return rows.map((row) => ({ ...row, name: nameOfKey(row.name), key: row.name as AgentKey }));
      }),

    /** The name must be free. */
    insert: (agent: NewAgent): Promise<AgentRow> =>
      withServiceErrors(async () => {
        assertStorable(agent.name);
        assertStorable(agent.data);
        const name = namespace.agentKey(agent.name);
        const data = { name, data: agent.data, createdAtMs: BigInt(agent.createdAtMs), ...of };
        return toRow(await client.agent.create({ data }));
      }),

    /** Returns the new version. */
    update: (id: number, { data }: { readonly data: string }): Promise<number> =>
      withServiceErrors(async () => {
        assertStorable(data);
        const written = { data, version: { increment: 1 } };
        const where = { id, ...of };
        const row = await client.agent.update({ where, data: written, select: { version: true } });
        return Number(row.version);
      }),

    /** Sets how its steps are compared with their registered schemas. */
    setStepSchemas: (id: number, stepSchemas: StepSchemaMode | null): Promise<void> =>
      withServiceErrors(async () => {
        await client.agent.update({ where: { id, ...of }, data: { stepSchemas }, select: { id: true } });
      }),

    /** Removes an agent with its links and policies, and when it was used and evaluated. Returns the numbers of those. */
    remove: ({ id, name }: Pick<AgentRow, 'id' | 'name'>): Promise<RemovedLinks> =>
      withServiceErrors(async () => {
        const links = { where: { agentId: id, agent: of } };
        const controls = await client.agentControl.deleteMany(links);
        const policies = await client.agentPolicy.deleteMany(links);
        await client.agent.delete({ where: { id, ...of }, select: { id: true } });
        const agentName = namespace.agentKey(name);
        await client.agentUse.deleteMany({ where: { agentName } });
        await client.agentActivity.deleteMany({ where: { agentName } });
        return { controls: controls.count, policies: policies.count };
      }),

    /**
     * Agents that were registered before the given one, the newest first; the newest ones without it. Registrations
     * of more than `maxLength` characters are not read: their data are null.
     */
    newestBefore: (last: AgentPlace | null, limit: number, maxLength: number): Promise<BoundedRow[]> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<BoundedRow[]>(Prisma.sql`
          SELECT a."name" AS "key", a."created_at_ms" AS "createdAtMs",
            CASE WHEN LENGTH(a."data") <= ${maxLength} THEN a."data" END AS "data"
          FROM "agents" a WHERE ${inNamespace('a', scope)} AND ${last === null ? TRUE : isBefore(last)}
          ORDER BY a."created_at_ms" DESC, a."name" DESC LIMIT ${limit}`);
        return rows.map((row) => ({ ...row, createdAtMs: BigInt(row.createdAtMs) }));
      }),

    /** One page in the order of the filters. */
    list: (filters: AgentFilters): Promise<Page<AgentRow>> =>
      withServiceErrors(async () => {
        const query = await agentPageQuery(scope, filters);
        return findPage(client, query, async (ids) => {
          const rows = await client.agent.findMany({ where: { id: { in: ids }, ...of } });
          return rows.map(toRow);
        });
      }),

    /** When agents were last active; an agent that never was is absent. */
    activity: (names: readonly string[]): Promise<Map<string, AgentActivity>> =>
      withServiceErrors(async () => {
        const rows = await client.agentActivity.findMany({ where: { agentName: { in: keysOf(names) } } });
        return new Map(rows.map((row) => [nameOfKey(row.agentName), ACTIVITY.of(row)]));
      }),

    /** When agents were used last, in milliseconds since the epoch; an agent without a known use is absent. */
    lastUses: (names: readonly string[]): Promise<Map<string, number>> =>
      withServiceErrors(async () => {
        const rows = await client.agentUse.findMany({ where: { agentName: { in: keysOf(names) } } });
        return new Map(rows.map(({ agentName, usedAtMs }) => [nameOfKey(agentName), Number(usedAtMs)]));
      }),

    /** Number of enabled controls of each agent, by links and policies; an agent without any is absent. */
    activeControlCounts: (agentIds: readonly number[]): Promise<Map<number, number>> =>
      withServiceErrors(async () => {
        if (agentIds.length === 0) return new Map();
        const rows = await client.$queryRaw<{ id: number; count: bigint }[]>(Prisma.sql`
          SELECT e."agent_id" AS "id", COUNT(*) AS "count"
          FROM (${effectivePairs({ agentIds })}) e JOIN "controls" c ON c."id" = e."control_id"
          WHERE c."enabled" = ${true} AND ${inNamespace('c', scope)}
          GROUP BY e."agent_id"`);
        return new Map(rows.map(({ id, count }) => [Number(id), Number(count)]));
      }),
  };
}

/** Where an agent is among those of its namespace by the time of its registration. */
export interface AgentPlace {
  readonly key: AgentKey;
  readonly createdAtMs: bigint;
}

function isBefore({ key, createdAtMs }: AgentPlace): Prisma.Sql {
  return Prisma.sql`(a."created_at_ms", a."name") < (${createdAtMs}, ${key})`;
}

interface BoundedRow extends AgentPlace {
  readonly data: string | null;
}

function toRow(row: Parameters<typeof AGENT.of>[0]): AgentRow {
  const { name: key, ...agent } = AGENT.of(row);
  return { ...agent, key, name: nameOfKey(key) };
}
