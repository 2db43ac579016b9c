import type { ConditionExplanation } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { UserText } from '../ui/user-text.js';
import { visibleText } from '../ui/visible-text.js';
import { DecisionBadge } from './decision-badge.js';
import { ExpressionValues } from './expression-values.js';
import { FindingList, scoreText } from './finding-list.js';
import { skipText } from './skip-text.js';
import './controls.css';

/** How a condition was evaluated, node by node: what was true, and what was skipped and why. */
export function ConditionWalk({ root }: { readonly root: ConditionExplanation }) {
  return (
    <ul className="tree">
      <Node node={root} />
    </ul>
  );
}

function Node({ node }: { readonly node: ConditionExplanation }) {
  const { type, evaluatorName, selectorPath, message, error, selected, shortCircuitReason, children } = node;
  const { confidence, expressionValues, findings } = node;
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
      {node.evaluated && error === undefined && confidence !== undefined && confidence < 1 && (
        <span className="muted"> with a confidence of {scoreText(confidence)}</span>
      )}
      {message !== undefined && <p dir="auto">{message}</p>}
      {error !== undefined && (
        <p className="problem" dir="auto">
          {error}
        </p>
      )}
      {!node.evaluated && shortCircuitReason !== undefined && (
        <p className="muted">{skipText(shortCircuitReason)}</p>
      )}
      {node.evaluated && selected !== undefined && (
        <p className="muted">
          {selected.type}: <code dir="auto">{visibleText(selected.text)}</code>
          {selected.shortened && ' (shortened)'}
        </p>
      )}
      <ExpressionValues values={expressionValues} />
      <FindingList findings={findings} selectorPath={selectorPath ?? '*'} />
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
