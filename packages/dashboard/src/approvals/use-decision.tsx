import { type Approval, ApprovalDecision } from '@gen/enforcement/v1/approval_service_pb.js';
import { type ReactNode, useState } from 'react';
import { useMay } from '../session/session-context.js';
import { numberOf } from '../ui/numbers.js';
import { useShortcut } from '../ui/shortcuts/shortcuts.js';
import { isPending, stateOf } from './approval-text.js';
import { DecideDialog } from './decide-dialog.js';

/** What is being asked about. */
interface Asked {
  readonly approvalId: number;
  readonly decision: ApprovalDecision;
  readonly narrowedInput?: string;
}

interface Decisions {
  /** Whether the caller may decide about approvals at all. */
  readonly mayDecide: boolean;
  readonly ask: (asked: Asked) => void;
  /** The open dialog, what became of the last decision, and the keys; to be put in the page. */
  readonly elements: ReactNode;
}

/** Decides about approvals: with A and D about the one that the page has in view. */
export function useDecisions(
  inView: number | undefined,
  onDecided?: (approval: Approval) => void,
): Decisions {
  const mayDecide = useMay('approvals.decide');
  const [asked, setAsked] = useState<Asked>();
  const [said, setSaid] = useState('');
  const close = (decided?: Approval): void => {
    setAsked(undefined);
    if (decided === undefined) return;
    setSaid(decidedText(decided));
    onDecided?.(decided);
  };
  const askInView = (decision: ApprovalDecision): void => {
    if (inView !== undefined) setAsked({ approvalId: inView, decision });
  };
  const elements = (
    <>
      {mayDecide && inView !== undefined && <Keys onKey={askInView} />}
      <p role="status" className="decided">
        {said}
      </p>
      {asked !== undefined && <DecideDialog key={asked.approvalId} {...asked} onClose={close} />}
    </>
  );
  return { mayDecide, ask: setAsked, elements };
}

function Keys({ onKey }: { readonly onKey: (decision: ApprovalDecision) => void }) {
  useShortcut('a', 'Approve, after a question', () => onKey(ApprovalDecision.APPROVE));
  useShortcut('d', 'Deny, after a question', () => onKey(ApprovalDecision.DENY));
  return null;
}

/** What a vote has led to. */
function decidedText(approval: Approval): string {
  if (!isPending(approval)) return `Approval ${approval.id}: ${stateOf(approval.state)[0]}.`;
  const missing = Math.max(1, ...approval.controls.map(({ approved, quorum }) => quorum - approved));
  return `Your vote about approval ${approval.id} counts. It waits for ${numberOf(missing, 'more vote')}.`;
}
