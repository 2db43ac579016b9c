import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, loadInOrder, newestFirst, type Page } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { ApprovalState } from '../decisions/approval-gate.js';
import { answeringApprovals } from './answering-approvals.js';
import { approvalNotFound } from './approval-errors.js';
import { type ApprovalFilters, conditionsOf } from './approval-filters.js';
import { APPROVAL, type ApprovalRow, reuseText, type VoteRow } from './approval-row.js';

const SELECTED = {
  ...APPROVAL.selected,
  votes: { orderBy: [{ atMs: 'asc' }, { person: 'asc' }] },
} satisfies Prisma.ApprovalSelect;

/** A new approval. */
export interface NewApproval
  extends Omit<
    ApprovalRow,
    | 'id'
    | 'state'
    | 'narrowedBinding'
    | 'decidedAtMs'
    | 'usedAtMs'
    | 'endedAtMs'
    | 'uses'
    | 'endReason'
    | 'votes'
  > {
  readonly approverGroup: string;
  /** Sealed. */
  readonly step: string;
  readonly explanations: string | null;
}

/** What a change sets. Absent members stay. */
export interface ApprovalChange {
  readonly state?: ApprovalState;
  readonly expiresAtMs?: number;
  readonly decidedAtMs?: number;
  readonly endedAtMs?: number;
  readonly endReason?: string;
  readonly stepSha256?: string;
  readonly narrowedBinding?: string;
  readonly narrowedStep?: string;
  /** Null: it no longer answers for its step. */
  readonly liveKey?: null;
  readonly changeNo: number;
}

/** The approvals of a namespace. Every method rejects with a `ServiceError` only. */
export function createApprovalStore(scope: Scoped) {
  const { client, namespace } = scope;
  return {
    ...answeringApprovals(scope),

    /** Null also for a number that cannot be the id of a row, and for approvals of other namespaces. */
    find: (id: number): Promise<ApprovalRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const where = { id, namespace: namespace.name };
        const row = await client.approval.findUnique({ where, select: SELECTED });
        return row === null ? null : toRow(row);
      }),

    /** What may be large: the sealed steps, and the explanations. */
    evidence: (id: number) =>
      withServiceErrors(() =>
        client.approval.findUnique({
          where: { id, namespace: namespace.name },
          select: { step: true, narrowedStep: true, explanations: true },
        }),
      ),

    /** One page, newest first. */
    list: (filters: ApprovalFilters): Promise<Page<ApprovalRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"approvals" a`,
          filters: [Prisma.sql`a."namespace" = ${namespace.name}`, ...conditionsOf(filters)],
          ...newestFirst(Prisma.sql`a."id"`, filters),
        };
        return findPage(client, query, async (ids) => {
          const where = { id: { in: ids }, namespace: namespace.name };
          return (await client.approval.findMany({ where, select: SELECTED })).map(toRow);
        });
      }),

    /** Adds one that answers for its binding; returns its id. */
    insert: ({ target, controls, reuse, approverGroup, ...approval }: NewApproval): Promise<number> =>
      withServiceErrors(async () => {
        const { id } = await client.approval.create({
          data: {
            ...approval,
            namespace: namespace.name,
            targetType: target?.type ?? null,
            targetId: target?.id ?? null,
            state: 'pending',
            liveKey: approval.binding,
            controls: JSON.stringify(controls),
            approvers: controls
              .flatMap(({ approvers }) => approvers.map((one) => JSON.stringify(one)))
              .join(),
            approverGroup,
            reuse: reuseText(reuse),
            askedAtMs: BigInt(approval.askedAtMs),
            expiresAtMs: BigInt(approval.expiresAtMs),
            changeNo: BigInt(approval.changeNo),
          },
          select: { id: true },
        });
        await client.approvalControl.createMany({
          data: controls.map((control) => ({
            approvalId: id,
            controlId: control.id,
            versionNum: control.version,
          })),
        });
        return id;
      }),

    addVote: (id: number, { atMs, ...vote }: VoteRow): Promise<unknown> =>
      withServiceErrors(() =>
        client.approval.update({
          where: { id, namespace: namespace.name },
          data: { votes: { create: { ...vote, atMs: BigInt(atMs) } } },
          select: { id: true },
        }),
      ),

    /** The approval must be one that `find` returns. */
    update: (id: number, { changeNo, expiresAtMs, decidedAtMs, endedAtMs, ...change }: ApprovalChange) =>
      withServiceErrors(async () => {
        const data = {
          ...change,
          changeNo: BigInt(changeNo),
          ...(expiresAtMs === undefined ? {} : { expiresAtMs: BigInt(expiresAtMs) }),
          ...(decidedAtMs === undefined ? {} : { decidedAtMs: BigInt(decidedAtMs) }),
          ...(endedAtMs === undefined ? {} : { endedAtMs: BigInt(endedAtMs) }),
        };
        const where = { id, namespace: namespace.name };
        return toRow(await client.approval.update({ where, data, select: SELECTED }));
      }),
  };
}

/** Approvals of all namespaces by their ids, in their order; those that exist. */
export async function approvalRows(client: DbClient, ids: number[]): Promise<ApprovalRow[]> {
  return loadInOrder(ids, async (part) =>
    (await client.approval.findMany({ where: { id: { in: part } }, select: SELECTED })).map(toRow),
  );
}

export type ApprovalStore = ReturnType<typeof createApprovalStore>;

/** Throws APPROVAL_NOT_FOUND; also for one of another agent, if an agent asks. */
export async function existingApproval(
  store: ApprovalStore,
  id: number,
  agentName?: string,
): Promise<ApprovalRow> {
  const row = await store.find(id);
  // To others than its agent it does not exist.
  if (row === null || (agentName !== undefined && row.agentName !== agentName)) throw approvalNotFound(id);
  return row;
}

type Selected = Prisma.ApprovalGetPayload<{ select: typeof SELECTED }>;

function toRow({ votes, ...stored }: Selected): ApprovalRow {
  const { targetType, targetId, ...row } = APPROVAL.of(stored);
  return {
    ...row,
    target: targetType === null || targetId === null ? null : { type: targetType, id: targetId },
    votes: votes.map(({ atMs, approvalId: _, decision, ...vote }) => ({
      ...vote,
      decision: decision as VoteRow['decision'],
      atMs: Number(atMs),
    })),
  };
}
