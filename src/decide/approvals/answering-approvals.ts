import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { ApprovalReuse } from '../../kernel/core/lift.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { ApprovalState } from '../decisions/approval-gate.js';
import { type ApprovalRow, type AskingControl, reuseOf } from './approval-row.js';
import { isLost } from './lost-approvals.js';

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

/** Which approvals of a namespace answer for a step, and their use. Every method rejects with a `ServiceError` only. */
export function answeringApprovals({ client, namespace }: Scoped) {
  return {
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
  };
}
