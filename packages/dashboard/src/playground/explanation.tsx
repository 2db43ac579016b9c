import { Decision } from '@gen/enforcement/v1/control_pb.js';
import type {
  ControlExplanation,
  EvaluateResponse,
  ExplainResponse,
} from '@gen/enforcement/v1/evaluation_service_pb.js';
import { Outcome } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { Link } from 'wouter';
import { ConditionWalk } from '../control-parts/condition-walk.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { type Sign, signOfDecision } from '../control-parts/sign.js';
import { durationText, limitText } from '../limits/limit-text.js';
import { Fact } from '../ui/fact.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import { UserText } from '../ui/user-text.js';

/** The verdict of an explained step, and what each control did. */
export function Explanation({ explained }: { readonly explained: ExplainResponse }) {
  const { verdict, controls, omittedControls } = explained;
  return (
    <>
      {verdict !== undefined && <Verdict verdict={verdict} />}
      {controls.length === 0 && <p>The agent has no controls, so every step is allowed.</p>}
      <ol className="explanations">
        {controls.map((control) => (
          <ControlResult key={`${control.controlId} ${control.controlName}`} control={control} />
        ))}
      </ol>
      {omittedControls > 0 && <p className="muted">{omittedControls} more controls are not shown.</p>}
    </>
  );
}

function Verdict({ verdict }: { readonly verdict: EvaluateResponse }) {
  const { sign, word } = verdictSign(verdict);
  return (
    <div className="card verdict">
      <DecisionBadge sign={sign} word={word} />
      <span dir="auto">{verdict.reason ?? 'No control denies the step.'}</span>
      <CheckedText verdict={verdict} />
      <span className="muted">revision {String(verdict.revision)}</span>
      {verdict.halt !== undefined && <Link href="/halts">Halts in force</Link>}
      <AppliedLimits limits={verdict.limits} />
    </div>
  );
}

/** How many controls were selected for the step, evaluated, failed and skipped. Nothing if the server does not tell. */
function CheckedText({ verdict }: { readonly verdict: EvaluateResponse }) {
  const {
    selectedControls: selected,
    evaluatedControls: evaluated,
    skippedControls: skipped,
    errors,
  } = verdict;
  if (selected === undefined || evaluated === undefined || skipped === undefined) return null;
  return (
    <span className="muted">
      {numberOf(selected, 'control')} selected: {evaluated} evaluated
      {errors.length > 0 && `, ${errors.length} failed`}, {skipped} skipped
      {skipped > 0 && ' after a deny'}
    </span>
  );
}

/** What is left of the limits that controls with memory apply to the step. */
function AppliedLimits({ limits }: Pick<EvaluateResponse, 'limits'>) {
  if (limits.length === 0) return null;
  return (
    <dl className="facts">
      {limits.map((limit) => (
        <Fact
          key={`${limit.controlId} ${limit.evaluatorName} ${limit.key}`}
          name={`Left of ${limit.controlName}`}
        >
          {limitText(limit)}, resets {durationText(limit.resetsAfter, 'not by itself')}
          {limit.degraded !== '' && ` (${limit.degraded})`}
        </Fact>
      ))}
    </dl>
  );
}

function verdictSign({ isSafe, outcome, matches, halt }: EvaluateResponse): { sign: Sign; word: string } {
  if (isSafe) return { sign: 'safe', word: 'allowed' };
  if (halt !== undefined) return { sign: 'deny', word: 'denied' };
  if (outcome === Outcome.STEER) return { sign: 'steer', word: 'steered' };
  const isMatch = matches.some(({ action }) => action === Decision.DENY);
  return isMatch ? { sign: 'deny', word: 'denied' } : { sign: 'error', word: 'denied' };
}

function ControlResult({ control }: { readonly control: ControlExplanation }) {
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
