import { Link } from 'wouter';
import type {
  ConditionExplanation,
  ControlExplanation,
  EvaluateResponse,
  ExplainResponse,
} from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { Outcome } from '../../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { DecisionBadge, type Sign, signOfDecision } from '../shared/decision-badge.js';
import { UserText } from '../shared/user-text.js';

/** Why a node was not evaluated. */
const SKIP_TEXTS: Readonly<Record<string, string>> = {
  and_failed: 'An earlier condition of AND did not match.',
  or_matched: 'An earlier condition of OR matched.',
  error: 'An earlier condition could not be evaluated.',
  denied: 'Another control had already denied the step.',
};

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
      <span className="muted">revision {String(verdict.revision)}</span>
    </div>
  );
}

function verdictSign({ isSafe, outcome, errors }: EvaluateResponse): { sign: Sign; word: string } {
  if (isSafe) return { sign: 'safe', word: 'allowed' };
  if (outcome === Outcome.STEER) return { sign: 'steer', word: 'steered' };
  return { sign: errors.length > 0 ? 'error' : 'deny', word: 'denied' };
}

function ControlResult({ control }: { readonly control: ControlExplanation }) {
  const { controlId, controlName, decision, applies, message, condition, warnings } = control;
  const matched = condition?.matched === true;
  return (
    <li className="card">
      <div className="trace-head">
        <DecisionBadge sign={applies && matched ? signOfDecision(decision) : 'none'} />
        {controlId > 0 ? (
          <Link href={`/controls/${controlId}`}>
            <UserText text={controlName} />
          </Link>
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
      {condition !== undefined && (
        <ul className="tree">
          <Node node={condition} />
        </ul>
      )}
    </li>
  );
}

function Node({ node }: { readonly node: ConditionExplanation }) {
  const { type, evaluatorName, selectorPath, message, error, selected, shortCircuitReason, children } = node;
  return (
    <li>
      <NodeResult node={node} />{' '}
      <strong>{type === 'leaf' ? <UserText text={evaluatorName ?? 'leaf'} /> : type.toUpperCase()}</strong>
      {selectorPath !== undefined && (
        <>
          {' '}
          on <code>{selectorPath}</code>
        </>
      )}
      {message !== undefined && <p dir="auto">{message}</p>}
      {error !== undefined && (
        <p className="problem" dir="auto">
          {error}
        </p>
      )}
      {!node.evaluated && shortCircuitReason !== undefined && (
        <p className="muted">{SKIP_TEXTS[shortCircuitReason] ?? shortCircuitReason}</p>
      )}
      {node.evaluated && selected !== undefined && (
        <p className="muted">
          {selected.type}: <code dir="auto">{selected.text}</code>
          {selected.shortened && ' (shortened)'}
        </p>
      )}
      {children.length > 0 && (
        <ul>
          {children.map((child, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: nodes have no other identity and never move
            <Node key={index} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

function NodeResult({ node }: { readonly node: ConditionExplanation }) {
  if (node.error !== undefined) return <DecisionBadge sign="error" />;
  if (!node.evaluated) return <span className="muted">not evaluated</span>;
  return node.matched === true ? (
    <span className="result true">✓ true</span>
  ) : (
    <span className="result false">✗ false</span>
  );
}
