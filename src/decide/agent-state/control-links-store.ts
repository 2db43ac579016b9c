import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AgentKey, type TargetKey, targetOfKey } from '../../contract/call/namespace.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { isStorable } from '../../storage/database/text.js';
import type { StoredDefinition } from './agent-control-store.js';
import { type ControlLinks, linksKey } from './control-links.js';

/** The links of some agents, and the bindings of some targets, at one revision. */
export interface LinksState {
  readonly revision: number;
  /** An unknown agent is absent. */
  readonly links: ReadonlyMap<AgentKey, StoredLinks>;
  /** The ids of the controls of the enabled bindings of each target, ascending; one without any is absent. */
  readonly bound: ReadonlyMap<TargetKey, readonly number[]>;
}

/** What is stored of an agent that its verdicts depend on. */
export interface StoredLinks {
  /** Equal links are one object. */
  readonly links: ControlLinks;
  /** JSON text of the registration. */
  readonly registration: string;
  /** Its setting for the comparison of steps with their schemas. */
  readonly stepSchemas: string | null;
}

/** The controls of some links at one revision. */
export interface ControlsState {
  readonly revision: number;
  /** For each links, in the given order: each control once, newest id first. */
  readonly controls: readonly (readonly StoredDefinition[])[];
}

/**
 * Reads the effective controls of many agents in two steps, each one statement, so that what agents share is
 * read once. Rejects with a `ServiceError` only.
 */
export function createControlLinksStore(client: DbClient) {
  return {
    /** At most some hundreds of agents and targets: each has arguments of the statement. */
    linksOf: (agents: readonly AgentKey[], targets: readonly TargetKey[] = []): Promise<LinksState> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<LinkRow[]>(Prisma.sql`
          WITH "wanted" AS (SELECT "id", "name", "data", "step_schemas" FROM "agents" WHERE "name" IN (${Prisma.join([...agents])}))
          SELECT "revision", CAST(NULL AS INTEGER) AS "agentId", CAST(NULL AS TEXT) AS "name",
            CAST(NULL AS INTEGER) AS "policyId", CAST(NULL AS INTEGER) AS "controlId",
            CAST(NULL AS TEXT) AS "data", CAST(NULL AS TEXT) AS "stepSchemas",
            CAST(NULL AS INTEGER) AS "target"
          FROM "service_state" WHERE "id" = 1
          UNION ALL SELECT NULL, "id", "name", NULL, NULL, "data", "step_schemas", NULL FROM "wanted"
          UNION ALL SELECT NULL, g."agent_id", NULL, g."policy_id", NULL, NULL, NULL, NULL
            FROM "wanted" w JOIN "agent_policies" g ON g."agent_id" = w."id"
          UNION ALL SELECT NULL, l."agent_id", NULL, NULL, l."control_id", NULL, NULL, NULL
            FROM "wanted" w JOIN "agent_controls" l ON l."agent_id" = w."id"
          ${ofTargets(targets)}`);
        return { revision: revisionOf(rows), links: linksByKey(rows), bound: boundTo(targets, rows) };
      }),

    controlsOf: (links: readonly ControlLinks[]): Promise<ControlsState> =>
      withServiceErrors(async () => {
        const policyIds = distinct(links.flatMap((one) => one.policyIds));
        const controlIds = distinct(links.flatMap((one) => one.controlIds));
        const rows = await client.$queryRaw<ControlRow[]>(Prisma.sql`
          SELECT "revision", CAST(NULL AS INTEGER) AS "policyId", CAST(NULL AS INTEGER) AS "id",
            CAST(NULL AS TEXT) AS "name", CAST(NULL AS TEXT) AS "data"
          FROM "service_state" WHERE "id" = 1
          ${policyIds.length === 0 ? Prisma.empty : ofPolicies(policyIds)}
          ${controlIds.length === 0 ? Prisma.empty : ofIds(controlIds)}`);
        return { revision: revisionOf(rows), controls: controlsByLinks(rows, links) };
      }),
  };
}

export type ControlLinksStore = ReturnType<typeof createControlLinksStore>;

/** The enabled bindings of targets, each with the position of its target. */
function ofTargets(targets: readonly TargetKey[]): Prisma.Sql {
  const wanted = targets.flatMap((key, at) => {
    const { namespace, type, id } = targetOfKey(key);
    // Nothing can be bound to a target that cannot be stored.
    return isStorable(type) && isStorable(id)
      ? Prisma.sql`(${Prisma.raw(String(at))}, ${namespace}, ${type}, ${id})`
      : [];
  });
  if (wanted.length === 0) return Prisma.empty;
  return Prisma.sql`
    UNION ALL SELECT NULL, NULL, NULL, NULL, b."control_id", NULL, NULL, t."column1"
      FROM (VALUES ${Prisma.join(wanted)}) t JOIN "control_bindings" b ON b."namespace" = t."column2"
        AND b."target_type" = t."column3" AND b."target_id" = t."column4" AND b."enabled" = ${true}`;
}

function boundTo(targets: readonly TargetKey[], rows: readonly LinkRow[]): Map<TargetKey, readonly number[]> {
  const bound = new Map<TargetKey, number[]>();
  for (const { target, controlId } of rows) {
    const key = target === null ? undefined : targets[Number(target)];
    if (key !== undefined && controlId !== null) listIn(bound, key).push(Number(controlId));
  }
  for (const ids of bound.values()) ids.sort(ascending);
  return bound;
}

/** The members of policies, and the definitions of all these controls, each once. */
function ofPolicies(policyIds: readonly number[]): Prisma.Sql {
  const ids = listOf(policyIds);
  return Prisma.sql`
    UNION ALL SELECT NULL, "policy_id", "control_id", NULL, NULL FROM "policy_controls" WHERE "policy_id" IN (${ids})
    UNION ALL SELECT NULL, NULL, "id", "name", "data" FROM "controls"
      WHERE "id" IN (SELECT "control_id" FROM "policy_controls" WHERE "policy_id" IN (${ids}))`;
}

/** Definitions; a control that was deleted since its link was read is absent. */
function ofIds(controlIds: readonly number[]): Prisma.Sql {
  return Prisma.sql`
    UNION ALL SELECT NULL, NULL, "id", "name", "data" FROM "controls"
      WHERE "id" IN (${listOf(controlIds)}) AND "deleted_at_ms" IS NULL`;
}

/** In the text of the statement: databases limit the number of arguments, and ids are numbers. */
function listOf(ids: readonly number[]): Prisma.Sql {
  if (!ids.every(Number.isSafeInteger)) throw new Error('an id is not an integer');
  return Prisma.raw(ids.join());
}

function linksByKey(rows: readonly LinkRow[]): Map<AgentKey, StoredLinks> {
  const agents = new Map<number, LinkRow & { policyIds: number[]; controlIds: number[] }>();
  for (const row of rows) {
    if (row.agentId !== null && row.name !== null)
      agents.set(Number(row.agentId), { ...row, policyIds: [], controlIds: [] });
  }
  for (const { agentId, policyId, controlId } of rows) {
    const agent = agentId === null ? undefined : agents.get(Number(agentId));
    if (policyId !== null) agent?.policyIds.push(Number(policyId));
    if (controlId !== null) agent?.controlIds.push(Number(controlId));
  }
  const known = new Map<string, ControlLinks>();
  const byKey = new Map<AgentKey, StoredLinks>();
  for (const { name, data, stepSchemas, policyIds, controlIds } of agents.values()) {
    const links = { policyIds: policyIds.sort(ascending), controlIds: controlIds.sort(ascending) };
    const key = linksKey(links);
    const shared = known.get(key) ?? links;
    known.set(key, shared);
    byKey.set((name ?? '') as AgentKey, { links: shared, registration: data ?? '', stepSchemas });
  }
  return byKey;
}

function controlsByLinks(
  rows: readonly ControlRow[],
  links: readonly ControlLinks[],
): readonly (readonly StoredDefinition[])[] {
  const members = new Map<number, number[]>();
  const definitions = new Map<number, StoredDefinition>();
  for (const row of rows) {
    if (row.id === null) continue;
    const id = Number(row.id);
    if (row.policyId !== null) listIn(members, Number(row.policyId)).push(id);
    else definitions.set(id, { id, name: row.name ?? '', data: row.data ?? '' });
  }
  return links.map(({ policyIds, controlIds }) =>
    distinct([...controlIds, ...policyIds.flatMap((id) => members.get(id) ?? [])])
      .sort((left, right) => right - left)
      .flatMap((id) => definitions.get(id) ?? []),
  );
}

function listIn<Key>(lists: Map<Key, number[]>, key: Key): number[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: number[] = [];
  lists.set(key, list);
  return list;
}

function distinct(ids: readonly number[]): number[] {
  return [...new Set(ids)];
}

const ascending = (left: number, right: number): number => left - right;

function revisionOf(rows: readonly { readonly revision: bigint | number | null }[]): number {
  const found = rows.find(({ revision }) => revision !== null)?.revision;
  if (found === undefined || found === null) throw new Error('the row of the revision is missing');
  return Number(found);
}

interface LinkRow {
  readonly revision: bigint | null;
  readonly agentId: number | null;
  readonly name: string | null;
  readonly policyId: number | null;
  readonly controlId: number | null;
  readonly data: string | null;
  readonly stepSchemas: string | null;
  /** Position of the target that a control is bound to. */
  readonly target: number | null;
}

interface ControlRow {
  readonly revision: bigint | null;
  readonly policyId: number | null;
  readonly id: number | null;
  readonly name: string | null;
  readonly data: string | null;
}
