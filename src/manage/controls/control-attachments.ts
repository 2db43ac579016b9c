import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { nameOfKey } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { allOf, FALSE, isStorable } from '../../storage/database/text.js';

/** Agents, policies and targets of a control that are listed. */
const MAX_ATTACHED = 20;

/** Which targets are listed. Null means no filter. */
export interface AttachmentFilters {
  readonly targetType: string | null;
  readonly targetId: string | null;
}

/** What a control is attached to, as contained in replies. */
export interface PrintedAttachments {
  readonly agents: readonly { readonly agent_name: string }[];
  readonly policies: readonly { readonly id: number; readonly name: string }[];
  readonly targets: readonly {
    readonly binding_id: number;
    readonly target_type: string;
    readonly target_id: string;
    readonly enabled: boolean;
  }[];
  readonly targets_total: number;
  readonly targets_truncated: boolean;
}

/**
 * What each of some controls of a namespace is attached to: the first agents by name, the first policies by id, and the
 * targets that were bound last. Rejects with a `ServiceError` only.
 */
export function attachmentsOf(
  scope: Scoped,
  controlIds: readonly number[],
  filters: AttachmentFilters,
): Promise<Map<number, PrintedAttachments>> {
  return withServiceErrors(async () => {
    if (controlIds.length === 0) return new Map();
    const { client } = scope;
    const ids = Prisma.join([...controlIds]);
    const agents = await client.$queryRaw<NamedRow[]>`
      SELECT "controlId", "name", "id" FROM (
        SELECT l."control_id" AS "controlId", a."name", a."id",
          ROW_NUMBER() OVER (PARTITION BY l."control_id" ORDER BY a."name") AS "place"
        FROM "agent_controls" l JOIN "agents" a ON a."id" = l."agent_id"
        WHERE l."control_id" IN (${ids}) AND ${inNamespace('a', scope)}) r
      WHERE "place" <= ${MAX_ATTACHED} ORDER BY "name"`;
    const policies = await client.$queryRaw<NamedRow[]>`
      SELECT "controlId", "name", "id" FROM (
        SELECT l."control_id" AS "controlId", p."name", p."id",
          ROW_NUMBER() OVER (PARTITION BY l."control_id" ORDER BY p."id") AS "place"
        FROM "policy_controls" l JOIN "policies" p ON p."id" = l."policy_id"
        WHERE l."control_id" IN (${ids}) AND ${inNamespace('p', scope)}) r
      WHERE "place" <= ${MAX_ATTACHED} ORDER BY "id"`;
    const targets = await client.$queryRaw<TargetRow[]>`
      SELECT * FROM (
        SELECT b."control_id" AS "controlId", b."id", b."target_type" AS "type", b."target_id" AS "targetId", b."enabled",
          ROW_NUMBER() OVER (PARTITION BY b."control_id" ORDER BY b."id" DESC) AS "place",
          COUNT(*) OVER (PARTITION BY b."control_id") AS "total"
        FROM "control_bindings" b
        WHERE b."control_id" IN (${ids}) AND ${inNamespace('b', scope)} AND ${targetConditions(filters)}) r
      WHERE "place" <= ${MAX_ATTACHED} ORDER BY "id" DESC`;
    return new Map(
      controlIds.map((controlId) => {
        const own = <Row extends { readonly controlId: number }>(rows: readonly Row[]) =>
          rows.filter((row) => Number(row.controlId) === controlId);
        const bound = own(targets);
        const total = Number(bound[0]?.total ?? 0);
        return [
          controlId,
          {
            agents: own(agents).map(({ name }) => ({ agent_name: nameOfKey(name) })),
            policies: own(policies).map(({ id, name }) => ({ id: Number(id), name: nameOfKey(name) })),
            targets: bound.map(({ id, type, targetId, enabled }) => ({
              binding_id: Number(id),
              target_type: type,
              target_id: targetId,
              // SQLite has numbers.
              enabled: Boolean(enabled),
            })),
            targets_total: total,
            targets_truncated: total > bound.length,
          },
        ];
      }),
    );
  });
}

function targetConditions({ targetType, targetId }: AttachmentFilters): Prisma.Sql {
  const equal = (column: string, wanted: string | null): Prisma.Sql[] => {
    if (wanted === null) return [];
    return [isStorable(wanted) ? Prisma.sql`b.${Prisma.raw(`"${column}"`)} = ${wanted}` : FALSE];
  };
  return allOf([...equal('target_type', targetType), ...equal('target_id', targetId)]);
}

interface NamedRow {
  readonly controlId: number;
  readonly id: number;
  /** The key of the name. */
  readonly name: string;
}

interface TargetRow {
  readonly controlId: number;
  readonly id: number;
  readonly type: string;
  readonly targetId: string;
  readonly enabled: boolean | number | bigint;
  readonly total: number | bigint;
}
