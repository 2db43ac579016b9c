import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { AuditRecord } from './audit-log.js';
import type { DbClient } from './client.js';
import {
  createNotify,
  type NotificationFact,
  type NotificationKind,
  type NotifyOptions,
} from './notifications.js';

/** Called with each entry of the audit log, in its transaction. */
export type AuditListener = (tx: DbClient, record: AuditRecord) => Promise<void>;

/** Tells destinations of what is in the audit log: it is stored in the same transaction, so neither is there without the other. */
export function createChangeNotifier(options: NotifyOptions): AuditListener {
  const notify = createNotify(options);
  return async (tx, record) => {
    const kind = kindOf(record);
    if (kind === null) return;
    const wanted = await tx.$queryRaw<unknown[]>`
      SELECT 1 AS "one" FROM "notification_destinations" d WHERE d."enabled" AND d."kinds" LIKE ${`%"${kind}"%`} LIMIT 1`;
    if (wanted.length === 0) return;
    const facts =
      record.resource === 'approval' ? await approvalFacts(tx, record, kind) : [factOf(record, kind)];
    for (const fact of facts) await notify(tx, fact);
  };
}

const DECIDED = ['approval.approve', 'approval.deny', 'approval.cancel', 'approval.expire'];

function kindOf({ action, resource }: AuditRecord): NotificationKind | null {
  if (action === 'halt.create') return 'halt.set';
  if (action === 'approval.ask') return 'approval.asked';
  if (DECIDED.includes(action)) return 'approval.decided';
  return resource === 'control' || resource === 'pack' ? 'control.changed' : null;
}

function factOf(record: AuditRecord, kind: NotificationKind): NotificationFact {
  const { action, resource, id, name = '', origin, after } = record;
  const by = nameOf(record);
  const shared = { kind, namespace: origin.namespace, object: `${resource}:${id}`, timeMs: origin.timeMs };
  if (resource === 'control') {
    return {
      ...shared,
      summary: `Control ${id} "${name}": ${action} by ${by}`,
      data: { action, control: { id: Number(id), name }, by },
      path: `/ui/controls/${id}`,
    };
  }
  if (resource === 'pack') {
    return {
      ...shared,
      summary: `Controls of the pack "${name}": ${action} by ${by}`,
      data: { action, pack: { installation_id: Number(id), name }, by },
      path: '/ui/packs',
    };
  }
  const scope = String((after as JsonObject | null)?.scope);
  return {
    ...shared,
    // One of the installation denies steps of all namespaces.
    namespace: scope === 'installation' ? null : origin.namespace,
    summary: `Halt ${id} of ${name}, by ${by}`,
    data: { halt: { id: Number(id), scope, name }, by },
    path: '/ui/halts',
  };
}

/** One for each approval of an entry, told to its own namespace. */
async function approvalFacts(
  tx: DbClient,
  record: AuditRecord,
  kind: NotificationKind,
): Promise<NotificationFact[]> {
  const { id, after, origin } = record;
  const named = (after as JsonObject | null)?.approvals;
  const ids = id !== null ? [Number(id)] : Array.isArray(named) ? named.map(Number) : [];
  const rows = await tx.approval.findMany({
    where: { id: { in: ids } },
    select: { id: true, namespace: true, agentName: true, stepName: true, state: true },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id: approvalId, namespace, agentName, stepName, state }) => {
    const by = kind === 'approval.decided' ? { by: nameOf(record) } : {};
    const what = kind === 'approval.asked' ? 'is asked for' : `is ${state}`;
    return {
      kind,
      namespace,
      object: `approval:${approvalId}`,
      summary: `Approval ${approvalId} ${what}: step "${stepName}" of agent ${agentName}`,
      data: { approval: { id: approvalId, state }, agent_name: agentName, step_name: stepName, ...by },
      path: `/ui/approvals/${approvalId}`,
      timeMs: origin.timeMs,
    };
  });
}

function nameOf({ origin: { actor } }: AuditRecord): string {
  return actor.name ?? actor.keyFingerprint ?? actor.kind;
}
