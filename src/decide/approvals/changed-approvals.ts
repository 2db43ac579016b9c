import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { ApprovalRow } from './approval-row.js';
import { approvalRows } from './approval-store.js';

/** Approvals read at once. */
const PART = 500;
/** The largest id that a row can have. */
const MAX_ID = 2 ** 31 - 1;

/** A place in the order of changes: by the number of the change, then by id. */
export interface ChangePlace {
  readonly changeNo: number;
  readonly id: number;
}

/** What has changed after a place. */
export interface ChangedApprovals {
  /** In their latest states, of all namespaces. */
  readonly rows: readonly ApprovalRow[];
  readonly upTo: ChangePlace;
  /** Whether the database is an earlier state: it was restored. */
  readonly isReplaced: boolean;
}

/** The place after all changes that are committed. */
export function latestChange(client: DbClient): Promise<ChangePlace> {
  return withServiceErrors(async () => {
    const { auditPosition } = await client.serviceState.findUniqueOrThrow({
      where: { id: 1 },
      select: { auditPosition: true },
    });
    return { changeNo: Number(auditPosition), id: MAX_ID };
  });
}

/** What has changed after a place: in one query if it is nothing. */
export function changesAfter(client: DbClient, { changeNo, id }: ChangePlace): Promise<ChangedApprovals> {
  return withServiceErrors(async () => {
    const found = await client.$queryRaw<{ latest: bigint; id: number | null; change_no: bigint | null }[]>`
      SELECT s."audit_position" AS "latest", a."id", a."change_no"
      FROM "service_state" s LEFT JOIN "approvals" a
        ON a."change_no" > ${BigInt(changeNo)} OR (a."change_no" = ${BigInt(changeNo)} AND a."id" > ${BigInt(id)})
      WHERE s."id" = 1 ORDER BY a."change_no", a."id" LIMIT ${PART}`;
    const latest = Number(found[0]?.latest ?? 0);
    if (latest < changeNo) {
      return { rows: [], upTo: { changeNo: latest, id: MAX_ID }, isReplaced: true };
    }
    const changed = found.flatMap((row) =>
      row.id === null || row.change_no === null
        ? []
        : [{ id: Number(row.id), changeNo: Number(row.change_no) }],
    );
    const rows =
      changed.length === 0
        ? []
        : await approvalRows(
            client,
            changed.map((row) => row.id),
          );
    return { rows, upTo: changed.at(-1) ?? { changeNo, id }, isReplaced: false };
  });
}
