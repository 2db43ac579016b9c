import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { type AuditRecord, originOfService } from '../../storage/database/audit-log.js';
import type { RecordedChange } from '../../storage/database/change-log.js';
import type { DbClient } from '../../storage/database/database.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import type { BeforeCommit } from '../../storage/database/storage-options.js';

/** Most approvals that one entry of the audit log names; it tells the number of all. */
const MAX_NAMED = 1_000;
/** Ids in one statement. */
const MAX_IDS = 5_000;

/** Why approvals end with a change, in the order in which they are looked for. */
const REASONS = {
  halt: 'a halt denies the step',
  control: 'a control that asked was changed, disabled or deleted',
  link: 'a control that asked is no longer a control of the agent',
} as const;

/** A condition that an approval, with the alias `a`, has lost what it is bound to. */
export function isLost(nowMs: number): Prisma.Sql {
  return Prisma.sql`(${isHalted(nowMs)} OR ${hasChanged()} OR ${isUnlinked()})`;
}

function isHalted(nowMs: number): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT 1 FROM "halts" h
    WHERE h."lifted_at_ms" IS NULL AND (h."expires_at_ms" IS NULL OR h."expires_at_ms" > ${BigInt(nowMs)})
      AND (h."scope" = 'installation' OR (h."namespace" = a."namespace" AND (h."scope" = 'namespace'
        OR (h."scope" = 'agent' AND h."agent_name" = a."agent_name")
        OR (h."scope" = 'session' AND h."agent_name" = a."agent_name" AND h."session_id" = a."session_id")
        OR (h."scope" = 'step_name' AND h."step_name" = a."step_name"
          AND (h."agent_name" IS NULL OR h."agent_name" = a."agent_name"))))))`;
}

function hasChanged(): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT 1 FROM "approval_controls" x LEFT JOIN "controls" c ON c."id" = x."control_id" AND c."deleted_at_ms" IS NULL
    WHERE x."approval_id" = a."id" AND (c."id" IS NULL OR c."enabled" = ${false} OR x."version_num" <> (
      SELECT MAX(v."version_num") FROM "control_versions" v WHERE v."control_id" = x."control_id")))`;
}

/** By the rule of `effectivePairs`. */
function isUnlinked(): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT 1 FROM "approval_controls" x WHERE x."approval_id" = a."id"
    AND NOT EXISTS (
      SELECT 1 FROM "agents" g JOIN "agent_controls" l ON l."agent_id" = g."id"
      WHERE g."name" = ${agentKey()} AND l."control_id" = x."control_id")
    AND NOT EXISTS (
      SELECT 1 FROM "agents" g JOIN "agent_policies" m ON m."agent_id" = g."id"
        JOIN "policy_controls" p ON p."policy_id" = m."policy_id"
      WHERE g."name" = ${agentKey()} AND p."control_id" = x."control_id")
    AND NOT EXISTS (
      SELECT 1 FROM "control_bindings" b
      WHERE b."namespace" = a."namespace" AND b."target_type" = a."target_type" AND b."target_id" = a."target_id"
        AND b."control_id" = x."control_id" AND b."enabled" = ${true}))`;
}

/** The key of the agent, see `Namespace.agentKey`. */
function agentKey(): Prisma.Sql {
  return Prisma.sql`(CASE WHEN a."namespace" = 'default' THEN a."agent_name" ELSE a."namespace" || '/' || a."agent_name" END)`;
}

/** Approvals that a change may concern, as a condition. */
function concernedBy({ agents, controls, policies, targets, access }: RecordedChange): Prisma.Sql {
  if (agents === 'any' || access || policies.length > 0 || targets.length > 0) return Prisma.sql`1 = 1`;
  const concerned = [
    ...(agents.length === 0 ? [] : [Prisma.sql`${agentKey()} IN (${Prisma.join([...agents])})`]),
    ...(controls.length === 0
      ? []
      : [
          Prisma.sql`EXISTS (SELECT 1 FROM "approval_controls" x
            WHERE x."approval_id" = a."id" AND x."control_id" IN (${Prisma.join([...controls])}))`,
        ]),
  ];
  return concerned.length === 0 ? Prisma.sql`1 = 0` : Prisma.sql`(${Prisma.join(concerned, ' OR ')})`;
}

/**
 * Ends the open approvals that lose what they are bound to by a mutation, in its transaction: one that has no version of the control
 * any more, no link of it to the agent, or whose step a halt denies. Without open approvals it is one query of an index.
 */
export function createApprovalEnds(now: () => number): BeforeCommit {
  return async (tx, change, entryNo) => {
    const nowMs = now();
    const lost = await tx.$queryRaw<{ id: number; namespace: string; why: keyof typeof REASONS }[]>`
      SELECT a."id", a."namespace",
        CASE WHEN ${isHalted(nowMs)} THEN 'halt' WHEN ${hasChanged()} THEN 'control' ELSE 'link' END AS "why"
      FROM "approvals" a
      WHERE a."state" IN ('pending', 'approved') AND a."expires_at_ms" > ${BigInt(nowMs)} AND ${concernedBy(change)}
        AND ${isLost(nowMs)} ORDER BY a."id"`;
    if (lost.length === 0) return null;
    for (const why of Object.keys(REASONS) as (keyof typeof REASONS)[]) {
      const ids = lost.filter((row) => row.why === why).map(({ id }) => Number(id));
      for (const some of portionsOf(ids, MAX_IDS)) {
        await endAll(tx, some, 'cancelled', REASONS[why], nowMs, entryNo);
      }
    }
    return endsRecord('approval.cancel', lost, nowMs, 'what they were bound to has changed');
  };
}

/** Ends open approvals. They no longer answer for their steps. */
export async function endAll(
  tx: DbClient,
  ids: readonly number[],
  state: 'cancelled' | 'expired',
  reason: string,
  nowMs: number,
  entryNo: number,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE "approvals" SET "state" = ${state}, "live_key" = NULL, "ended_at_ms" = ${BigInt(nowMs)},
      "end_reason" = ${reason}, "change_no" = ${BigInt(entryNo)}
    WHERE "id" IN (${Prisma.join([...ids])}) AND "state" IN ('pending', 'approved')`;
}

/** The entry of the audit log about approvals that the service ends by itself. */
export function endsRecord(
  action: 'approval.cancel' | 'approval.expire',
  ended: readonly { readonly id: number; readonly namespace: string }[],
  nowMs: number,
  reason: string,
): AuditRecord {
  const ids = ended.map(({ id }) => Number(id));
  const namespaces = [...new Set(ended.map(({ namespace }) => namespace))];
  const origin = originOfService(nowMs);
  return {
    action,
    resource: 'approval',
    id: ids.length === 1 ? String(ids[0]) : null,
    before: null,
    after: { approvals: ids.slice(0, MAX_NAMED), approval_count: ids.length, reason },
    // Others would learn of the approvals of a namespace.
    origin: namespaces.length === 1 ? { ...origin, namespace: namespaces[0] ?? origin.namespace } : origin,
  };
}
