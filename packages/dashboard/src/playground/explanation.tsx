import { toJsonString } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { Decision } from '@gen/enforcement/v1/control_pb.js';
import type { EvaluateResponse, ExplainResponse } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { Outcome } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { Link } from 'wouter';
import { ControlResult } from '../control-parts/control-result.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import type { VerdictSign } from '../control-parts/sign.js';
import { durationText, limitText } from '../limits/limit-text.js';
import { Fact } from '../ui/fact.js';
import { numberOf } from '../ui/numbers.js';
import { visibleText } from '../ui/visible-text.js';

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
      <ApprovalLink approval={verdict.approval} />
      <Modification modification={verdict.modification} />
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

/** The approval that a step waits for, or that lets it pass. An explanation of a step asks for none: then it has no id. */
function ApprovalLink({ approval }: Pick<EvaluateResponse, 'approval'>) {
  if (approval === undefined) return null;
  const names = approval.controls.map(({ controlName }) => controlName).join(', ');
  if (approval.id === 0) return <span className="muted">Asked by {names}</span>;
  return (
    <Link href={`/approvals/${approval.id}`}>
      Approval {approval.id}, asked by {names}
    </Link>
  );
}

/** The changes that let the step run, by their place in it. */
function Modification({ modification }: Pick<EvaluateResponse, 'modification'>) {
  if (modification === undefined) return null;
  return (
    <ul className="patch">
      {modification.patch.map(({ op, path, value }) => (
        <li key={path}>
          {op} <code>{visibleText(path)}</code>
          {value !== undefined && (
            <>
              {' '}
              with <code>{visibleText(toJsonString(ValueSchema, value))}</code>
            </>
          )}
        </li>
      ))}
    </ul>
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

function verdictSign({ isSafe, outcome, matches, halt }: EvaluateResponse): {
  sign: VerdictSign;
  word: string;
} {
  if (isSafe) return { sign: 'safe', word: 'allowed' };
  if (halt !== undefined) return { sign: 'deny', word: 'denied' };
  if (outcome === Outcome.ASK) return { sign: 'ask', word: 'waits for an approval' };
  if (outcome === Outcome.MODIFY) return { sign: 'modify', word: 'allowed with changes' };
  if (outcome === Outcome.STEER) return { sign: 'steer', word: 'steered' };
  const isMatch = matches.some(({ action }) => action === Decision.DENY);
  return isMatch ? { sign: 'deny', word: 'denied' } : { sign: 'error', word: 'denied' };
}
