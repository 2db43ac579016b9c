import type { ControlExplanation } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { NameLink } from '../ui/name-link.js';
import { UserText } from '../ui/user-text.js';
import { ConditionWalk } from './condition-walk.js';
import { DecisionBadge } from './decision-badge.js';
import { signOfDecision } from './sign.js';

/** What one control did with a step, and why. */
export function ControlResult({ control }: { readonly control: ControlExplanation }) {
  const { controlId, controlName, decision, applies, message, condition, warnings } = control;
  const matched = condition?.matched === true;
  return (
    <li className="card">
      <div className="trace-head">
        <DecisionBadge sign={applies && matched ? signOfDecision(decision) : 'none'} />
        {controlId > 0 ? (
          <NameLink href={`/controls/${controlId}`} name={controlName} />
        ) : (
          <UserText text={controlName} />
        )}
        {!applies && <span className="muted">does not apply</span>}
      </div>
      {message !== '' && <p dir="auto">{message}</p>}
      {warnings.map((warning) => (
        <p key={`${warning.field} ${warning.code}`} className="notice">
          {warning.field}: {warning.message}
        </p>
      ))}
      {condition !== undefined && <ConditionWalk root={condition} />}
    </li>
  );
}
