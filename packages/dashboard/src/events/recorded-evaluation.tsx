import { Decision } from '@gen/enforcement/v1/control_pb.js';
import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { stageText } from '../control-parts/scope-text.js';
import type { Sign } from '../control-parts/sign.js';
import { agentAddress } from '../references/columns.js';
import { SampledStep } from '../samples/sampled-step.js';
import { Fact } from '../ui/fact.js';
import { NameLink } from '../ui/name-link.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { RecordedCheck } from './recorded-check.js';

interface RecordedEvaluationProps {
  readonly checks: readonly [ControlExecutionEvent, ...ControlExecutionEvent[]];
  /** Whether the definitions of deciding checks are shown at once. */
  readonly isOpen: boolean;
}

/** A step that was evaluated: its facts, and each recorded check in order. */
export function RecordedEvaluation({ checks, isOpen }: RecordedEvaluationProps) {
  const [first] = checks;
  const { sign, word } = outcomeOf(checks);
  const step = [first.stepType, first.stepName].filter((part) => part !== undefined).join(' ');
  const agentName = first.agentName ?? '';
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Agent', <NameLink key="agent" href={agentAddress(agentName)} name={agentName} />],
    [
      'Time',
      <span key="time">
        <TimeText time={first.timestamp} isExact />{' '}
        <small className="muted">
          <TimeText time={first.timestamp} />
        </small>
      </span>,
    ],
    ['Stage', stageText(first.checkStage)],
    ['Session', textOf(first.sessionId)],
    ['Step id', textOf(first.stepId)],
    ['Span', textOf(first.spanId)],
    ['Revision of the controls', first.revision?.toString()],
    ['Decision id', textOf(first.decisionId)],
  ];
  return (
    <section className="card evaluation" aria-label={`Step ${step}`}>
      <div className="trace-head">
        <DecisionBadge sign={sign} word={word} />
        <h2>
          Step <UserText text={step === '' ? 'without a name' : step} />
        </h2>
        <Link href={playgroundAddress(first)}>Try again now</Link>
      </div>
      <dl className="facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <Fact key={name} name={name}>
                {value}
              </Fact>
            ),
        )}
      </dl>
      {first.decisionId !== undefined && (
        <SampledStep
          decisionId={first.decisionId}
          agentName={agentName}
          matched={checks.flatMap(({ matched, controlName }) =>
            matched === true && controlName !== undefined ? [controlName] : [],
          )}
        />
      )}
      <ol className="checks">
        {checks.map((event) => (
          <RecordedCheck key={event.controlExecutionId} event={event} isOpen={isOpen} />
        ))}
      </ol>
    </section>
  );
}

function textOf(text: string | undefined): ReactNode {
  return text === undefined ? undefined : <UserText text={text} />;
}

/** What the recorded checks say about the step, by the rules of a verdict. */
function outcomeOf(checks: readonly ControlExecutionEvent[]): { readonly sign: Sign; readonly word: string } {
  const matches = (action: Decision) =>
    checks.some(
      (event) => event.errorMessage === undefined && event.matched === true && event.action === action,
    );
  if (matches(Decision.DENY)) return { sign: 'deny', word: 'denied' };
  const failed = checks.filter(({ errorMessage }) => errorMessage !== undefined);
  if (failed.some(({ action }) => action === Decision.DENY)) {
    return { sign: 'error', word: 'denied because of an error' };
  }
  if (matches(Decision.STEER)) return { sign: 'steer', word: 'steered' };
  return { sign: 'safe', word: 'allowed' };
}

/** Address of the playground with what is known of a step. */
function playgroundAddress({ agentName, checkStage, stepType, stepName }: ControlExecutionEvent): string {
  const parameters = new URLSearchParams();
  const known = { agent: agentName, stage: stageText(checkStage), type: stepType, name: stepName };
  for (const [name, value] of Object.entries(known)) if (value) parameters.set(name, value);
  return `/playground?${parameters}`;
}
