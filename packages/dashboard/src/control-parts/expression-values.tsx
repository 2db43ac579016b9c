import type { ExpressionValue } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { Disclosure } from '../ui/disclosure.js';
import { numberOf } from '../ui/numbers.js';
import { type ExpressionNode, expressionTree, treeSize } from './expression-tree.js';

/** More values than these are shown on demand. */
const OPEN_AT_FIRST = 12;

/** What each part of an expression was for the step, each below the part that it belongs to. */
export function ExpressionValues({ values }: { readonly values: readonly ExpressionValue[] }) {
  const tree = expressionTree(values);
  const size = treeSize(tree);
  if (size === 0) return null;
  return (
    <Disclosure
      className="expression-values"
      summary={`Values of ${numberOf(size, 'sub-expression')}`}
      isOpenAtFirst={size <= OPEN_AT_FIRST}
    >
      <Nodes nodes={tree} />
    </Disclosure>
  );
}

function Nodes({ nodes }: { readonly nodes: readonly ExpressionNode[] }) {
  if (nodes.length === 0) return null;
  return (
    <ul>
      {nodes.map(({ value, inside }) => (
        <li key={`${value.start} ${value.end}`}>
          <code dir="ltr">{value.text}</code> <Value value={value} />
          <Nodes nodes={inside} />
        </li>
      ))}
    </ul>
  );
}

function Value({ value: { evaluated, value, error } }: { readonly value: ExpressionValue }) {
  if (error !== undefined) {
    return (
      <span className="problem" dir="auto">
        failed: {error}
      </span>
    );
  }
  if (!evaluated || value === undefined) return <span className="muted">was not evaluated</span>;
  const text = value.type === 'string' ? JSON.stringify(value.text) : value.text;
  return (
    <>
      <span className="muted">is</span>{' '}
      <strong className="expression-value" dir="auto">
        {text}
      </strong>
      {value.shortened && <span className="muted"> (shortened)</span>}
    </>
  );
}
