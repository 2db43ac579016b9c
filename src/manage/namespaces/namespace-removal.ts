import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { AgentKey } from '../../contract/call/namespace.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import { originOfService } from '../../storage/database/audit-log.js';
import type { Change } from '../../storage/database/change-log.js';
import type { Database, DbClient } from '../../storage/database/database.js';

/**
 * Rows that one mutation removes. It blocks all other mutations meanwhile: these take some 10 ms. Versions of controls may
 * be large.
 */
const AGENTS_AT_ONCE = 500;
const CONTROLS_AT_ONCE = 100;
const POLICIES_AT_ONCE = 500;
const APPROVALS_AT_ONCE = 200;
const SAMPLES_AT_ONCE = 1_000;

export interface NamespaceRemovalOptions {
  readonly database: Pick<Database, 'client' | 'mutate'>;
  /** Removes what controls with memory keep of a namespace. */
  readonly forgetMemory: (namespace: string) => Promise<void>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Removes what deleted namespaces contained. */
export interface NamespaceRemoval {
  /** Removes all of a deleted namespace, in several mutations. */
  remove(name: string): Promise<void>;
  /** The same for every deleted namespace of which something is left: its process ended, or its database did not answer. */
  finish(): Promise<void>;
}

/** What one mutation removed. */
interface Removed {
  readonly change: Change;
  readonly counts: JsonObject;
}

/**
 * Several mutations instead of one: the largest namespace would exceed the limits of a transaction, and block changes of
 * all others. The namespace is marked as deleted before, so nothing of it can be reached or added, whenever this ends.
 */
export function createNamespaceRemoval(options: NamespaceRemovalOptions): NamespaceRemoval {
  const { database, forgetMemory, failures, now } = options;

  async function removePart(name: string): Promise<boolean> {
    const { changed } = await database.mutate(async (tx) => {
      const removed =
        (await removeAgents(tx, name)) ??
        (await removeControls(tx, name)) ??
        (await removePolicies(tx, name)) ??
        (await removeHalts(tx, name)) ??
        (await removeDestinations(tx, name)) ??
        (await removeOwners(tx, name)) ??
        (await removeApprovals(tx, name)) ??
        (await removeSamplingRules(tx, name)) ??
        (await removeSamples(tx, name)) ??
        (await removeMarks(tx, name));
      if (removed === null) return { value: undefined, changed: false };
      return {
        value: undefined,
        changed: true,
        change: removed.change,
        audit: {
          action: 'namespace.remove_content',
          resource: 'namespace',
          id: name,
          before: removed.counts,
          after: null,
          // Not in the log of others: they would learn of the namespace.
          origin: { ...originOfService(now()), namespace: name },
        },
      };
    });
    return changed;
  }

  async function remove(name: string): Promise<void> {
    while (await removePart(name));
    try {
      await forgetMemory(name);
    } catch (error) {
      // It expires by itself, and cannot be reached meanwhile.
      failures.failed(
        'memory of namespaces',
        'the memory of a deleted namespace cannot be removed now',
        error,
      );
    }
  }

  return {
    remove,
    async finish() {
      for (const name of await unfinished(database.client)) await remove(name);
    },
  };
}

/** The deleted namespaces of which something is left. */
async function unfinished(client: DbClient): Promise<string[]> {
  const rows = await client.$queryRaw<{ name: string }[]>`
    SELECT n."name" FROM "namespaces" n WHERE n."deleted_at_ms" IS NOT NULL AND (
      EXISTS (SELECT 1 FROM "agents" a WHERE a."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "controls" c WHERE c."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "policies" p WHERE p."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "halts" h WHERE h."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "applied_objects" o WHERE o."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "notification_destinations" d WHERE d."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "approvals" p WHERE p."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "sampling_rules" r WHERE r."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "step_samples" s WHERE s."namespace" = n."name")
      OR EXISTS (SELECT 1 FROM "false_positives" f WHERE f."namespace" = n."name"))`;
  return rows.map(({ name }) => name);
}

/** Their links go with them. */
async function removeAgents(tx: DbClient, namespace: string): Promise<Removed | null> {
  const rows = await tx.agent.findMany({
    where: { namespace },
    select: { id: true, name: true },
    orderBy: [{ createdAtMs: 'asc' }, { name: 'asc' }],
    take: AGENTS_AT_ONCE,
  });
  if (rows.length === 0) return null;
  const keys = rows.map(({ name }) => name as AgentKey);
  await tx.agentUse.deleteMany({ where: { agentName: { in: keys } } });
  await tx.agentActivity.deleteMany({ where: { agentName: { in: keys } } });
  await tx.agent.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } });
  return { change: { agents: keys }, counts: { agents: rows.length } };
}

/** Their versions, facets, links, shadows and bindings go with them; those that were deleted before are kept for their versions. */
async function removeControls(tx: DbClient, namespace: string): Promise<Removed | null> {
  const rows = await tx.control.findMany({
    where: { namespace },
    select: { id: true },
    orderBy: { id: 'asc' },
    take: CONTROLS_AT_ONCE,
  });
  if (rows.length === 0) return null;
  const ids = rows.map(({ id }) => id);
  await tx.controlActivity.deleteMany({ where: { controlId: { in: ids } } });
  await tx.controlShadow.deleteMany({ where: { controlId: { in: ids } } });
  await tx.control.deleteMany({ where: { id: { in: ids } } });
  return { change: { controls: ids }, counts: { controls: rows.length } };
}

async function removePolicies(tx: DbClient, namespace: string): Promise<Removed | null> {
  const rows = await tx.policy.findMany({
    where: { namespace },
    select: { id: true },
    orderBy: { id: 'asc' },
    take: POLICIES_AT_ONCE,
  });
  if (rows.length === 0) return null;
  const ids = rows.map(({ id }) => id);
  await tx.policy.deleteMany({ where: { id: { in: ids } } });
  return { change: { policies: ids }, counts: { policies: rows.length } };
}

async function removeHalts(tx: DbClient, namespace: string): Promise<Removed | null> {
  const { count } = await tx.halt.deleteMany({ where: { namespace } });
  return count === 0 ? null : { change: { access: true }, counts: { halts: count } };
}

/** What owners have applied, which is of objects that are gone. */
async function removeOwners(tx: DbClient, namespace: string): Promise<Removed | null> {
  const { count } = await tx.appliedObject.deleteMany({ where: { namespace } });
  return count === 0 ? null : { change: {}, counts: { applied_objects: count } };
}

/** Their deliveries go with them. */
async function removeDestinations(tx: DbClient, namespace: string): Promise<Removed | null> {
  const { count } = await tx.notificationDestination.deleteMany({ where: { namespace } });
  return count === 0 ? null : { change: {}, counts: { notification_destinations: count } };
}

/** Their votes go with them. */
async function removeApprovals(tx: DbClient, namespace: string): Promise<Removed | null> {
  const rows = await tx.approval.findMany({
    where: { namespace },
    select: { id: true },
    orderBy: { id: 'asc' },
    take: APPROVALS_AT_ONCE,
  });
  if (rows.length === 0) return null;
  await tx.approval.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } });
  return { change: {}, counts: { approvals: rows.length } };
}

async function removeSamplingRules(tx: DbClient, namespace: string): Promise<Removed | null> {
  const { count } = await tx.samplingRule.deleteMany({ where: { namespace } });
  return count === 0 ? null : { change: { access: true }, counts: { sampling_rules: count } };
}

/** No more are added without their rules. */
async function removeSamples(tx: DbClient, namespace: string): Promise<Removed | null> {
  const count = await tx.$executeRaw`
    DELETE FROM "step_samples" WHERE "namespace" = ${namespace} AND "decision_id" IN (
      SELECT "decision_id" FROM "step_samples" WHERE "namespace" = ${namespace} LIMIT ${SAMPLES_AT_ONCE})`;
  return count === 0 ? null : { change: {}, counts: { step_samples: count } };
}

/** Of matches that are false positives; few, as a namespace has a bounded number. */
async function removeMarks(tx: DbClient, namespace: string): Promise<Removed | null> {
  const { count } = await tx.falsePositive.deleteMany({ where: { namespace } });
  return count === 0 ? null : { change: {}, counts: { false_positives: count } };
}
