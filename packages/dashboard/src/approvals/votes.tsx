import { type Approval, ApprovalDecision } from '@gen/enforcement/v1/approval_service_pb.js';
import { Link } from 'wouter';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { At } from './approval-facts.js';
import { approverText, decisionText, quorumText } from './approval-text.js';

const MAX_COMMENT = 1_000;

/** Who may decide, how many must, and who has. */
export function Votes({ approval: { controls, votes } }: { readonly approval: Approval }) {
  return (
    <section className="card" aria-label="Votes">
      <h2>Votes</h2>
      <ul className="votes">
        {controls.map((control) => (
          <li key={control.controlId}>
            {controls.length > 1 && (
              <>
                <UserText text={visibleText(control.controlName)} />:{' '}
              </>
            )}
            <strong>{quorumText(control)}</strong>
            <div className="muted">
              May decide: {control.approvers.map(approverText).join(', ')}.
              {control.separate &&
                ' One of them must be neither the caller that asks nor the author of the control.'}
            </div>
          </li>
        ))}
        {votes.map(({ by, decision, at, address, comment }) => (
          <li key={by}>
            <span className={`badge ${decision === ApprovalDecision.APPROVE ? 'safe' : 'deny'}`}>
              {decisionText(decision)}
            </span>{' '}
            by{' '}
            <Link href={`/approvals?tab=history&approver=${encodeURIComponent(by)}`}>
              <UserText text={visibleText(by)} />
            </Link>{' '}
            <span className="muted">
              <At time={at} />
              {address !== undefined && ` from ${visibleText(address)}`}
            </span>
            {comment !== undefined && (
              <p>
                <UserText text={visibleText(comment)} max={MAX_COMMENT} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
