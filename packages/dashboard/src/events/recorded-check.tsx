import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { ConditionWalk } from '../control-parts/condition-walk.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { UserText } from '../ui/user-text.js';
import { DefinitionAtCheck } from './definition-at-check.js';
import { signOfEvent } from './event-columns.js';
import { EventControl, haltOf } from './event-control.js';
import { FalsePositiveOf } from './false-positive.js';
import { recordedWalk } from './recorded-walk.js';

interface RecordedCheckProps {
  readonly event: ControlExecutionEvent;
  readonly isOpen: boolean;
}

/** One check of one control: its result, the leaf that decided it, and the definition as it was. */
export function RecordedCheck({ event, isOpen }: RecordedCheckProps) {
  const sign = signOfEvent(event);
  const [isShown, setShown] = useState(isOpen && sign !== 'none');
  const walk = recordedWalk(event.metadata);
  const halt = haltOf(event);
  return (
    <li>
      <div className="trace-head">
        <DecisionBadge sign={sign} />
        <EventControl event={event} />
        <Link className="muted" href={`/events?check=${encodeURIComponent(event.controlExecutionId ?? '')}`}>
          this event
        </Link>
      </div>
      {halt === undefined ? <Result event={event} /> : <p dir="auto">{halt}</p>}
      <FalsePositiveOf event={event} />
      {walk !== undefined && <ConditionWalk root={walk} />}
      {halt === undefined && (
        <details open={isShown} onToggle={(toggled) => setShown(toggled.currentTarget.open)}>
          <summary>Definition at the time of this check</summary>
          {isShown && <DefinitionAtCheck event={event} />}
        </details>
      )}
    </li>
  );
}

/** The result in a sentence, with the leaf that decided it as far as it is recorded. */
function Result({ event }: { readonly event: ControlExecutionEvent }) {
  const { errorMessage, matched, evaluatorName, selectorPath, confidence } = event;
  if (errorMessage !== undefined) {
    return (
      <>
        <p>
          The check could not be completed
          {evaluatorName !== undefined && (
            <>
              {' '}
              at <Leaf evaluator={evaluatorName} path={selectorPath} />
            </>
          )}
          :
        </p>
        <p className="problem" dir="auto">
          {errorMessage}
        </p>
      </>
    );
  }
  return (
    <p>
      The condition {matched === true ? 'matched' : 'did not match'}
      {evaluatorName !== undefined && (
        <>
          ; <Leaf evaluator={evaluatorName} path={selectorPath} /> decided
        </>
      )}
      {confidence !== undefined && confidence < 1 && `, with a confidence of ${confidence}`}.
    </p>
  );
}

function Leaf({ evaluator, path }: { readonly evaluator: string; readonly path: string | undefined }) {
  return (
    <>
      <UserText text={evaluator} /> on{' '}
      {path === undefined || path === '*' ? 'the whole step' : <code dir="auto">{path}</code>}
    </>
  );
}
