import type { ApprovalBinding, ApprovalReuse } from '../../kernel/core/lift.js';
import {
  type Column,
  columns,
  json,
  mapped,
  nullable,
  number,
  type ReadRow,
  text,
} from '../../storage/database/rows.js';
import type { ApprovalNotice, ApprovalState } from '../decisions/approval-gate.js';
import type { BoundCall } from './binding.js';
import type { Person } from './votes.js';

/** A control that asks, as it was when it asked. */
export interface AskingControl {
  readonly id: number;
  readonly name: string;
  readonly version: number;
  readonly definitionHash: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly separate: boolean;
  readonly bind: ApprovalBinding;
  readonly reuse: ApprovalReuse;
  /** See `VotedControl.authors`. */
  readonly authors: readonly string[];
}

/** A vote as stored. */
export interface VoteRow extends Person {
  readonly decision: 'approve' | 'deny';
  readonly atMs: number;
  readonly address: string | null;
  readonly comment: string | null;
  readonly stepSha256: string;
}

/** All columns but those that may be large. */
export const APPROVAL = columns({
  id: number,
  namespace: text,
  agentName: text,
  sessionId: nullable(text),
  stepId: nullable(text),
  targetType: nullable(text),
  targetId: nullable(text),
  stepType: text,
  stepName: text,
  /** As stored: one whose time is over may still be pending or approved, see `stateAt`. */
  state: text as Column<ApprovalState>,
  binding: text,
  narrowedBinding: nullable(text),
  stepSha256: text,
  question: text,
  controls: json<readonly AskingControl[]>(),
  reuse: mapped(text, reuseOf),
  askedBy: text,
  askedByKey: nullable(text),
  askedAtMs: number,
  expiresAtMs: number,
  decidedAtMs: nullable(number),
  usedAtMs: nullable(number),
  endedAtMs: nullable(number),
  uses: number,
  endReason: nullable(text),
  changeNo: number,
});

/** An approval as stored, without the step. Times are in milliseconds since 1970. */
export interface ApprovalRow extends Omit<ReadRow<typeof APPROVAL>, 'targetType' | 'targetId'>, BoundCall {
  /** Oldest first. */
  readonly votes: readonly VoteRow[];
}

export const EXPIRED = 'its time is over';

type Timed = Pick<ApprovalRow, 'state' | 'expiresAtMs'>;

/** Its state at a time: it expires by the clock, even before that is stored. */
export function stateAt({ state, expiresAtMs }: Timed, nowMs: number): ApprovalState {
  return (state === 'pending' || state === 'approved') && expiresAtMs <= nowMs ? 'expired' : state;
}

/** The same with the members that tell of the end. */
export function rowAt(row: ApprovalRow, nowMs: number): ApprovalRow {
  const state = stateAt(row, nowMs);
  if (state === row.state) return row;
  return { ...row, state, endedAtMs: row.expiresAtMs, endReason: EXPIRED };
}

/** What callers of evaluations see. */
export function noticeOf(
  row: Pick<ApprovalRow, 'id' | 'state' | 'expiresAtMs' | 'stepSha256' | 'controls'>,
): ApprovalNotice {
  const { id, state, expiresAtMs, stepSha256, controls } = row;
  return { id, state, expiresAtMs, stepSha256, controls: controls.map(({ id, name }) => ({ id, name })) };
}

/** The stored text of a rule of reuse, and back. */
export function reuseText(reuse: ApprovalReuse): string {
  return typeof reuse === 'object' ? String(reuse.seconds) : reuse;
}

export function reuseOf(text: string): ApprovalReuse {
  return text === 'once' || text === 'session' ? text : { seconds: Number(text) };
}

/** What approving allows, in words. */
export function allowed(reuse: ApprovalReuse): string {
  if (reuse === 'once') return 'Approving allows this step once.';
  if (reuse === 'session')
    return 'Approving allows this step any number of times in this session, until the approval expires.';
  return `Approving allows this step any number of times for ${reuse.seconds} seconds.`;
}
