/**
 * The log of the changes of each revision. It is written in the transaction of the mutation, so it has one
 * row for every revision, and a reader that finds fewer rows than revisions knows that its view is
 * incomplete.
 */

import { LIMITS } from '../../../gen/limits/limits.js';
import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { DbClient } from './client.js';
import type { DatabaseLocation } from './database-url.js';

/** The changes of a mutation that may affect a verdict. */
export interface Change {
  /** Agents whose registration, links or policies changed. */
  readonly agents?: readonly AgentKey[];
  /** Controls that were changed or deleted. Affects all programs that contain them. */
  readonly controls?: readonly number[];
  /** Policies whose controls changed. Affects all agents that have them. */
  readonly policies?: readonly number[];
  /** Targets whose bindings changed. Affects all agents that work on them. */
  readonly targets?: readonly TargetKey[];
  /** Whether keys, namespaces, halts or shadows changed. */
  readonly access?: boolean;
}

/** A change as recorded for other processes. */
export interface RecordedChange {
  readonly revision: number;
  /** `any` when too many agents are affected to be listed. */
  readonly agents: readonly AgentKey[] | 'any';
  readonly controls: readonly number[];
  readonly policies: readonly number[];
  readonly targets: readonly TargetKey[];
  readonly access: boolean;
}

/** The changes since a revision. */
export interface News {
  /** The latest revision. */
  readonly revision: number;
  /** Every change since, in order; null when the log is incomplete. */
  readonly changes: readonly RecordedChange[] | null;
}

/** Notified on PostgreSQL when a mutation commits; the payload is its revision. */
export const CHANGE_CHANNEL = 'control_enforcement_changes';

/** Agents listed in one change. More would slow down a mutation, which blocks all others. */
export const MAX_LISTED_AGENTS = LIMITS.AddPolicyAgentsRequest.agent_names.max;
/** Revisions kept: processes further behind reload everything. */
export const KEPT_REVISIONS = 10_000;
/** The log is pruned at every commit of a multiple of this: by one process, and without a clock. */
export const PRUNING_INTERVAL = 1_000;
/** Revisions read per query; for processes further behind reloading everything is faster. */
export const MAX_READ_REVISIONS = 1_000;

/** Records the change of a mutation, in its transaction; on PostgreSQL notifies listeners at commit. */
export async function recordChange(
  tx: DbClient,
  kind: DatabaseLocation['kind'],
  change: RecordedChange,
): Promise<void> {
  // Processes of an earlier version do not read the policies: for them, any agent may have changed.
  const agents = change.agents === 'any' || change.policies.length > 0 ? null : JSON.stringify(change.agents);
  const policies = change.agents === 'any' ? null : JSON.stringify(change.policies);
  const row = Prisma.sql`
    INSERT INTO "changes" ("revision", "agents", "controls", "policies", "targets", "access")
    VALUES (${change.revision}, ${agents}, ${JSON.stringify(change.controls)}, ${policies},
      ${change.targets.length === 0 ? null : JSON.stringify(change.targets)}, ${change.access})`;
  await tx.$executeRaw(
    kind === 'sqlite'
      ? row
      : Prisma.sql`
          WITH written AS (${row} RETURNING "revision")
          SELECT pg_notify(${CHANGE_CHANNEL}, "revision"::text) FROM written`,
  );
}

/** The change of a revision as recorded. An unspecified change may be anything. */
export function recordedChange(revision: number, change: Change | undefined): RecordedChange {
  if (change === undefined) return anyChange(revision);
  const { agents = [], controls = [], policies = [], targets = [], access = false } = change;
  // A row lists agents or policies.
  const tooMany =
    agents.length > MAX_LISTED_AGENTS ||
    targets.length > MAX_LISTED_AGENTS ||
    (agents.length > 0 && policies.length > 0);
  return tooMany ? anyChange(revision) : { revision, agents, controls, policies, targets, access };
}

/** The change of a revision that may have changed anything. */
export function anyChange(revision: number): RecordedChange {
  return { revision, agents: 'any', controls: [], policies: [], targets: [], access: true };
}

/** Deletes changes older than the kept revisions. */
export async function pruneChanges(client: DbClient, revision: number): Promise<void> {
  await client.$executeRaw`DELETE FROM "changes" WHERE "revision" <= ${revision - KEPT_REVISIONS}`;
}

/**
 * The single statement, and so the consistent state, from which news are read. `known` is the placeholder of
 * its argument, the known revision; its rows are for `newsOf`.
 */
export function newsQuery(known: string): string {
  return `
    SELECT s."revision" AS "latest", c."revision", c."agents", c."controls", c."policies",
      c."targets", c."access", s."instance_id"
    FROM "service_state" s LEFT JOIN "changes" c ON c."revision" > ${known}
    WHERE s."id" = 1 ORDER BY c."revision" LIMIT ${MAX_READ_REVISIONS}`;
}

/** Reads the rows of `newsQuery`; numbers as text, number or bigint. Throws when the row of the revision is missing. */
export function newsOf(known: number, rows: readonly (readonly unknown[])[]): News {
  const [first] = rows;
  if (first === undefined) throw new Error('the row of the revision is missing');
  const revision = Number(first[0]);
  const missing = revision - known;
  if (missing === 0) return { revision, changes: [] };
  // Revisions that decreased belong to another database: a restored one.
  if (missing < 0 || missing > rows.length) return { revision, changes: null };
  const changes = rows.flatMap((row) => changeOf(row) ?? []);
  return { revision, changes: changes.length === missing ? changes : null };
}

function changeOf(row: readonly unknown[]): RecordedChange | undefined {
  const [, revision, agents, controls, policies, targets, access] = row;
  if (revision === null || typeof controls !== 'string') return undefined;
  // Processes of an earlier version write no policies, but list the agents of a changed one.
  if (typeof policies !== 'string') return anyChange(Number(revision));
  return {
    revision: Number(revision),
    agents: typeof agents === 'string' ? (JSON.parse(agents) as AgentKey[]) : [],
    controls: JSON.parse(controls) as number[],
    policies: JSON.parse(policies) as number[],
    targets: typeof targets === 'string' ? (JSON.parse(targets) as TargetKey[]) : [],
    // A boolean of PostgreSQL; SQLite has numbers.
    access: access === true || Number(access) === 1 || access === 't' || access === 'true',
  };
}
