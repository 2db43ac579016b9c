import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import { isStorable } from '../../storage/database/text.js';
import type { ApprovalState } from '../decisions/approval-gate.js';
import { entriesOf, type Person } from './votes.js';

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

/** Conditions on approvals with the alias `a`. */
export function conditionsOf(filters: ApprovalFilters): Prisma.Sql[] {
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
