import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { ApprovalReuse } from '../../kernel/core/lift.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import {
  findPage,
  loadInOrder,
  newestFirst,
  type Page,
  type PageAsked,
} from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { isStorable } from '../../storage/database/text.js';
import type { ApprovalState } from '../decisions/approval-gate.js';
import {
  APPROVAL,
  type ApprovalRow,
  type AskingControl,
  reuseOf,
  reuseText,
  type VoteRow,
} from './approval-row.js';
import { isLost } from './lost-approvals.js';
import { entriesOf, type Person } from './votes.js';

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

/** What the bounds of a new approval are compared with. */
export interface AskedCounts {
  readonly open: number;
  readonly ofNamespace: number;
  readonly ofAgent: number;
  readonly asked: number;
  readonly askedByAgent: number;
}

/** An approval that may answer for a step, as one query reads it. */
export interface Candidate
  extends Pick<
    ApprovalRow,
    'id' | 'state' | 'stepSha256' | 'controls' | 'reuse' | 'expiresAtMs' | 'binding' | 'narrowedBinding'
  > {
  readonly isLive: boolean;
  /** Whether the same call has used it before, and it would still answer for it. */
  readonly isRepeat: boolean;
  /** Sealed; null unless an approver changed the step. */
  readonly narrowedStep: string | null;
  /** The comment of a denial. */
  readonly comment: string | null;
}

/** Selection of approvals to list. Null members select all. */
export interface ApprovalFilters extends PageAsked<number> {
  readonly state: ApprovalState | null;
  readonly agentName: string | null;
  readonly sessionId: string | null;
  readonly controlId: number | null;
  readonly decidedBy: string | null;
  /** Only those that this person is an approver of. */
  readonly approver: Pick<Person, 'name' | 'role'> | null;
  readonly nowMs: number;
}

interface CandidateRow {
  id: number;
  state: string;
  live_key: string | null;
  binding: string;
  narrowed_binding: string | null;
  step_sha256: string;
  controls: string;
  reuse: string;
  expires_at_ms: bigint;
  used_call: string | null;
  narrowed_step: string | null;
  comment: string | null;
}

/** The approvals of a namespace. Every method rejects with a `ServiceError` only. */
export function createApprovalStore({ client, namespace }: Scoped) {
  return {
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

    /** The approvals that may answer for a step with a binding, by id ascending, in one query. */
    candidates: (binding: string, call: string | null, nowMs: number): Promise<Candidate[]> =>
      withServiceErrors(async () => {
        const repeated = (column: 'binding' | 'narrowed_binding') =>
          call === null
            ? Prisma.empty
            : Prisma.sql`OR (a.${Prisma.raw(`"${column}"`)} = ${binding} AND a."used_call" = ${call} AND NOT ${isLost(nowMs)})`;
        const rows = await client.$queryRaw<CandidateRow[]>`
          SELECT a."id", a."state", a."live_key", a."binding", a."narrowed_binding", a."step_sha256", a."controls",
            a."reuse", a."expires_at_ms", a."used_call", a."narrowed_step", (
              SELECT v."comment" FROM "approval_votes" v WHERE v."approval_id" = a."id" AND v."decision" = 'deny') AS "comment"
          FROM "approvals" a
          WHERE a."namespace" = ${namespace.name} AND (a."live_key" = ${binding}
            OR (a."narrowed_binding" = ${binding} AND a."live_key" IS NOT NULL)
            ${repeated('binding')} ${repeated('narrowed_binding')})
          ORDER BY a."id"`;
        return rows.map((row) => ({
          id: Number(row.id),
          state: row.state as ApprovalState,
          isLive: row.live_key !== null,
          isRepeat: call !== null && row.used_call === call && row.state === 'used',
          binding: row.binding,
          narrowedBinding: row.narrowed_binding,
          stepSha256: row.step_sha256,
          controls: JSON.parse(row.controls) as AskingControl[],
          reuse: reuseOf(row.reuse),
          expiresAtMs: Number(row.expires_at_ms),
          narrowedStep: row.narrowed_step,
          comment: row.comment,
        }));
      }),

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

    /**
     * Numbers of open approvals of all namespaces, of this one and of an agent, and of approvals that a group of approvers was
     * asked for since a time, by all agents and by this one.
     */
    counts: (agentName: string, approverGroup: string, sinceMs: number, nowMs: number) =>
      withServiceErrors(async () => {
        const open = Prisma.sql`"state" IN ('pending', 'approved') AND "expires_at_ms" > ${BigInt(nowMs)}`;
        const own = Prisma.sql`"namespace" = ${namespace.name}`;
        const ofAgent = Prisma.sql`"agent_name" = ${agentName}`;
        const recent = Prisma.sql`"approver_group" = ${approverGroup} AND "asked_at_ms" > ${BigInt(sinceMs)}`;
        const [row] = await client.$queryRaw<Record<keyof AskedCounts, bigint>[]>`
          SELECT (SELECT COUNT(*) FROM "approvals" WHERE ${open}) AS "open",
            (SELECT COUNT(*) FROM "approvals" WHERE ${own} AND ${open}) AS "ofNamespace",
            (SELECT COUNT(*) FROM "approvals" WHERE ${own} AND ${ofAgent} AND ${open}) AS "ofAgent",
            (SELECT COUNT(*) FROM "approvals" WHERE ${own} AND ${recent}) AS "asked",
            (SELECT COUNT(*) FROM "approvals" WHERE ${own} AND ${ofAgent} AND ${recent}) AS "askedByAgent"`;
        const counted = (name: keyof AskedCounts): number => Number(row?.[name]);
        return {
          open: counted('open'),
          ofNamespace: counted('ofNamespace'),
          ofAgent: counted('ofAgent'),
          asked: counted('asked'),
          askedByAgent: counted('askedByAgent'),
        } satisfies AskedCounts;
      }),

    /** Frees a binding: whatever answered for it does not any more. */
    displace: (binding: string): Promise<unknown> =>
      withServiceErrors(
        () => client.$executeRaw`UPDATE "approvals" SET "live_key" = NULL
          WHERE "live_key" = ${binding} AND "namespace" = ${namespace.name}`,
      ),

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

    /** Whether an approval has lost what it is bound to. */
    isLost: (id: number, nowMs: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const rows = await client.$queryRaw<unknown[]>`
          SELECT 1 FROM "approvals" a WHERE a."id" = ${id} AND a."namespace" = ${namespace.name} AND ${isLost(nowMs)}`;
        return rows.length > 0;
      }),

    /** Uses an approval if it can be used now; false if not. */
    use: (id: number, reuse: ApprovalReuse, call: string | null, nowMs: number, changeNo: number) =>
      withServiceErrors(async () => {
        const atMs = BigInt(nowMs);
        const ended =
          reuse === 'once'
            ? Prisma.sql`"state" = 'used', "live_key" = NULL, "ended_at_ms" = ${atMs},`
            : Prisma.empty;
        const rows = await client.$queryRaw<{ uses: number }[]>`
          UPDATE "approvals" AS a SET ${ended} "uses" = a."uses" + 1, "used_at_ms" = ${atMs}, "used_call" = ${call},
            "change_no" = ${BigInt(changeNo)}
          WHERE a."id" = ${id} AND a."namespace" = ${namespace.name} AND a."state" = 'approved'
            AND a."expires_at_ms" > ${atMs} AND NOT ${isLost(nowMs)}
          RETURNING "uses"`;
        return rows.length > 0;
      }),

    /**
     * Makes an approval usable again that the same call has used. Nothing happens if another one answers for its binding
     * meanwhile; false then.
     */
    giveBack: (id: number, reuse: ApprovalReuse, changeNo: number) =>
      withServiceErrors(async () => {
        const state = reuse === 'once' ? 'used' : 'approved';
        const again =
          reuse === 'once'
            ? Prisma.sql`"state" = 'approved', "live_key" = a."binding", "ended_at_ms" = NULL,`
            : Prisma.empty;
        const isFree =
          reuse === 'once'
            ? Prisma.sql`AND NOT EXISTS (SELECT 1 FROM "approvals" other WHERE other."live_key" = a."binding")`
            : Prisma.empty;
        const rows = await client.$queryRaw<{ uses: number }[]>`
          UPDATE "approvals" AS a SET ${again} "uses" = a."uses" - 1, "used_at_ms" = NULL, "used_call" = NULL,
            "change_no" = ${BigInt(changeNo)}
          WHERE a."id" = ${id} AND a."namespace" = ${namespace.name} AND a."state" = ${state} AND a."uses" > 0 ${isFree}
          RETURNING "uses"`;
        return rows.length > 0;
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

function conditionsOf(filters: ApprovalFilters): Prisma.Sql[] {
  const { state, agentName, sessionId, controlId, decidedBy, approver, nowMs } = filters;
  const found: Prisma.Sql[] = [];
  if (state !== null) found.push(isInState(state, nowMs));
  if (agentName !== null) found.push(Prisma.sql`a."agent_name" = ${agentName}`);
  if (sessionId !== null) found.push(equals(Prisma.sql`a."session_id"`, sessionId));
  if (controlId !== null) {
    found.push(Prisma.sql`EXISTS (SELECT 1 FROM "approval_controls" x
      WHERE x."approval_id" = a."id" AND x."control_id" = ${isRowId(controlId) ? controlId : 0})`);
  }
  if (decidedBy !== null) {
    found.push(Prisma.sql`EXISTS (SELECT 1 FROM "approval_votes" v
      WHERE v."approval_id" = a."id" AND ${equals(Prisma.sql`v."person"`, decidedBy)})`);
  }
  if (approver !== null) {
    // Each entry is stored as JSON text: its quotation marks cannot be in another one.
    const entries = entriesOf(approver)
      .filter(isStorable)
      .map((entry) => Prisma.sql`replace(a."approvers", ${JSON.stringify(entry)}, '') <> a."approvers"`);
    found.push(entries.length === 0 ? Prisma.sql`1 = 0` : Prisma.sql`(${Prisma.join(entries, ' OR ')})`);
  }
  return found;
}

function equals(column: Prisma.Sql, text: string): Prisma.Sql {
  return isStorable(text) ? Prisma.sql`${column} = ${text}` : Prisma.sql`1 = 0`;
}

function isInState(state: ApprovalState, nowMs: number): Prisma.Sql {
  const ended = Prisma.sql`a."expires_at_ms" <= ${BigInt(nowMs)}`;
  if (state === 'expired') {
    return Prisma.sql`(a."state" = 'expired' OR (a."state" IN ('pending', 'approved') AND ${ended}))`;
  }
  const stored = Prisma.sql`a."state" = ${state}`;
  return state === 'pending' || state === 'approved' ? Prisma.sql`(${stored} AND NOT ${ended})` : stored;
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
