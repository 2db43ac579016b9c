/** What approvals should do, written down a second time: as lists in memory, with the clock of the test. */

import type { ApprovalState } from '../../../src/decide/decisions/approval-gate.js';
import type { ApprovalRule } from '../../../src/kernel/core/lift.js';

/** Rules of the controls 1 to 3. */
export const RULES: Readonly<Record<number, Partial<ApprovalRule>>> = {
  1: {},
  2: { reuse: 'session', quorum: 2 },
  3: { reuse: { seconds: 100 } },
};
/** The controls that ask about a step, by the number of the command. */
export const ASKING = [[1], [2], [3], [1, 2]] as const;
export const EXPIRES_MS = 3_600_000;
const REUSE_MS = 100_000;
/** Has written every control. */
export const AUTHOR = 'author';

/** An evaluation of a step. */
export interface ModelCall {
  readonly agent: number;
  readonly step: number;
  readonly asking: number;
  readonly session: string | null;
  readonly stepId: string | null;
}

interface ModelApproval {
  readonly call: ModelCall;
  readonly key: string;
  readonly versions: readonly (readonly [control: number, version: number])[];
  readonly votes: Map<string, 'approve' | 'deny'>;
  stored: ApprovalState;
  expiresAtMs: number;
  uses: number;
  usedCall: string | null;
  /** Whether it answers for its step. */
  isLive: boolean;
}

/** What an evaluation should be told; `row` is the number of the approval. */
export interface ModelAnswer {
  readonly kind: 'waits' | 'refused' | 'approved';
  readonly row: number | null;
  readonly isRepeat?: boolean;
}

const REFUSED: ModelAnswer = { kind: 'refused', row: null };

export function createModel(clock: { readonly ms: number }) {
  const rows: ModelApproval[] = [];
  const versions = new Map<number, number>();
  const unlinked = new Set<number>();
  let isHalted = false;

  const controlsOf = ({ asking }: ModelCall): readonly number[] => ASKING[asking] ?? [];
  const bindsSession = (call: ModelCall) => controlsOf(call).includes(2);
  const keyOf = (call: ModelCall) =>
    JSON.stringify([call.agent, call.step, call.asking, bindsSession(call) ? call.session : '']);
  const callOf = ({ session, stepId }: ModelCall) =>
    stepId === null ? null : JSON.stringify([session, stepId]);
  const versionOf = (control: number) => versions.get(control) ?? 0;
  const isOnce = (call: ModelCall) => controlsOf(call).includes(1);
  const isOpen = ({ stored }: ModelApproval) => stored === 'pending' || stored === 'approved';
  const isOver = ({ expiresAtMs }: ModelApproval) => expiresAtMs <= clock.ms;
  const isLost = (row: ModelApproval) =>
    isHalted ||
    row.versions.some(([control, version]) => unlinked.has(control) || version !== versionOf(control));
  const stateOf = (row: ModelApproval): ApprovalState =>
    isOpen(row) && isOver(row) ? 'expired' : row.stored;

  /** Ends what a change has made void. What has expired before stays expired. */
  function voided(): void {
    for (const row of rows) {
      if (!isOpen(row) || isOver(row) || !isLost(row)) continue;
      row.stored = 'cancelled';
      row.isLive = false;
    }
  }

  function create(call: ModelCall): ModelAnswer {
    if (isHalted || controlsOf(call).some((control) => unlinked.has(control))) return REFUSED;
    const key = keyOf(call);
    for (const row of rows) if (row.key === key) row.isLive = false;
    rows.push({
      call,
      key,
      versions: controlsOf(call).map((control) => [control, versionOf(control)]),
      votes: new Map(),
      stored: 'pending',
      expiresAtMs: clock.ms + EXPIRES_MS,
      uses: 0,
      usedCall: null,
      isLive: true,
    });
    return { kind: 'waits', row: rows.length - 1 };
  }

  function ask(call: ModelCall): ModelAnswer {
    if (bindsSession(call) && call.session === null) return REFUSED;
    const known = callOf(call);
    const own = rows.filter((row) => row.key === keyOf(call) && !isOver(row));
    const repeated = own.find(
      (row) => row.stored === 'used' && known !== null && row.usedCall === known && !isLost(row),
    );
    if (repeated !== undefined) return { kind: 'approved', row: rows.indexOf(repeated), isRepeat: true };
    const live = own.find((row) => row.isLive);
    if (live === undefined) return create(call);
    const row = rows.indexOf(live);
    if (live.stored === 'denied') return { kind: 'refused', row };
    return { kind: live.stored === 'approved' ? 'approved' : 'waits', row };
  }

  /** Uses what an evaluation was told; null if it passes, otherwise what it is told instead. */
  function use(call: ModelCall, { row: number, isRepeat }: ModelAnswer): ModelAnswer | null {
    const row = number === null ? undefined : rows[number];
    if (row === undefined) throw new Error('nothing to use');
    if (isRepeat === true) return null;
    if (row.stored === 'approved' && !isOver(row) && !isLost(row)) {
      row.uses += 1;
      row.usedCall = callOf(call);
      if (isOnce(call)) {
        row.stored = 'used';
        row.isLive = false;
      }
      return null;
    }
    const again = ask(call);
    return again.kind === 'approved' ? use(call, again) : again;
  }

  /** Whether the vote counts, or was counted before. */
  function vote(number: number, who: string, decision: 'approve' | 'deny'): boolean {
    const row = rows[number];
    if (row === undefined) throw new Error('no approval');
    const before = row.votes.get(who);
    if (before !== undefined) return before === decision;
    if (stateOf(row) !== 'pending') return false;
    row.votes.set(who, decision);
    if (decision === 'deny') row.stored = 'denied';
    else if (isApproved(row)) {
      row.stored = 'approved';
      if (controlsOf(row.call)[0] === 3) row.expiresAtMs = clock.ms + REUSE_MS;
    }
    return true;
  }

  /** Two people if one of its controls says so, and one who has not written the controls. */
  function isApproved({ call, votes }: ModelApproval): boolean {
    const quorum = controlsOf(call).includes(2) ? 2 : 1;
    return votes.size >= quorum && [...votes.keys()].some((who) => who !== AUTHOR);
  }

  return {
    ask,
    use,
    vote,
    count: () => rows.length,
    agentOf: (number: number) => rows[number]?.call.agent ?? 0,
    cancel(number: number): void {
      const row = rows[number];
      if (row === undefined || !isOpen(row) || isOver(row)) return;
      row.stored = 'cancelled';
      row.isLive = false;
    },
    change(control: number): void {
      versions.set(control, versionOf(control) + 1);
      voided();
    },
    unlink(control: number): void {
      unlinked.add(control);
      voided();
    },
    relink: (control: number): boolean => unlinked.delete(control),
    halt(): void {
      isHalted = true;
      voided();
    },
    lift(): void {
      isHalted = false;
    },
    /** State, uses and votes of each. */
    told: () =>
      rows.map((row) => ({ state: stateOf(row), uses: row.uses, votes: [...row.votes.keys()].sort() })),
    /** What must hold whatever happens: null, or what does not. */
    broken(): string | null {
      for (const [number, row] of rows.entries()) {
        if (row.uses > 0 && !isApproved(row)) return `${number} was used without its quorum`;
        if (isOnce(row.call) && row.uses > 1) return `${number} was used ${row.uses} times`;
      }
      return null;
    },
  };
}

export type ApprovalModel = ReturnType<typeof createModel>;
