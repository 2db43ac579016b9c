import {
  IconAlertTriangle,
  IconChevronDown,
  IconChevronRight,
  IconFilter,
  IconInfoCircle,
  IconShieldCheck,
} from '@tabler/icons-react';
import { type DragEvent, memo } from 'react';
import { UserText } from '../ui/user-text.js';
import { NodeResultBadge } from './node-result-badge.js';
import type { NodeResult } from './node-results.js';
import type { ProblemMark } from './problem-index.js';
import { type CheckSummary, checkSummary, type TreeRow } from './tree-rows.js';

/** Where a dragged node would go, relative to a row. */
export type DropPlace = 'before' | 'into' | 'after';

/** Callbacks of rows. They never change, so that only changed rows are drawn again. */
export interface RowActions {
  readonly select: (row: TreeRow) => void;
  readonly toggle: (row: TreeRow) => void;
  readonly dragStart: (row: TreeRow, event: DragEvent) => void;
  readonly dragOver: (row: TreeRow, event: DragEvent) => void;
  readonly drop: (row: TreeRow, event: DragEvent) => void;
}

interface TreeItemProps {
  readonly id: string;
  readonly row: TreeRow;
  readonly top: number;
  readonly isSelected: boolean;
  readonly mark: ProblemMark;
  readonly result: NodeResult | undefined;
  readonly dropPlace: DropPlace | null;
  readonly actions: RowActions;
}

const INDENT_PX = 18;

/** A node of the condition as a row of the tree. */
export const TreeItem = memo(function TreeItem(props: TreeItemProps) {
  const { id, row, top, isSelected, mark, result, dropPlace, actions } = props;
  const isComposite = row.kind !== 'check' && row.kind !== 'unknown';
  const Chevron = row.isOpen ? IconChevronDown : IconChevronRight;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names the active item
    <div
      role="treeitem"
      id={id}
      className={`tree-item${dropPlace === null ? '' : ` drop-${dropPlace}`}`}
      style={{ transform: `translateY(${top}px)`, paddingInlineStart: row.level * INDENT_PX + 4 }}
      // The control is the first level.
      aria-level={row.level + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={isSelected}
      aria-expanded={row.children === 0 ? undefined : row.isOpen}
      draggable={row.path.length > 0}
      onClick={() => actions.select(row)}
      onDragStart={(event) => actions.dragStart(row, event)}
      onDragOver={(event) => actions.dragOver(row, event)}
      onDrop={(event) => actions.drop(row, event)}
    >
      {isComposite ? (
        <span
          className="tree-chevron"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            actions.toggle(row);
          }}
        >
          {row.children > 0 && <Chevron size={14} />}
        </span>
      ) : (
        <IconFilter size={14} aria-hidden="true" className="muted" />
      )}
      <NodeText row={row} />
      {mark !== null && <MarkSign mark={mark} />}
      {result !== undefined && <NodeResultBadge result={result} />}
    </div>
  );
});

function NodeText({ row: { kind, node, children } }: { readonly row: TreeRow }) {
  if (kind === 'unknown') return <span className="tree-text problem">neither a check nor AND, OR, NOT</span>;
  if (kind !== 'check') {
    return (
      <span className="tree-text">
        <strong>{kind.toUpperCase()}</strong>
        {children === 0 && <span className="muted"> · empty</span>}
      </span>
    );
  }
  return <CheckText summary={checkSummary(node)} />;
}

function CheckText({ summary: { evaluator, path, config } }: { readonly summary: CheckSummary }) {
  return (
    <span className="tree-text" title={`${evaluator} on ${path}\n${config}`}>
      {evaluator === '' ? (
        <em className="muted">choose an evaluator</em>
      ) : (
        <strong>
          <UserText text={evaluator} max={30} />
        </strong>
      )}
      <span className="muted"> on </span>
      <code>
        <UserText text={path} max={40} />
      </code>
      {config !== '' && (
        <span className="muted">
          {' · '}
          <bdi>{config}</bdi>
        </span>
      )}
    </span>
  );
}

function MarkSign({ mark }: { readonly mark: 'error' | 'warning' }) {
  const Icon = mark === 'error' ? IconAlertTriangle : IconInfoCircle;
  const name = mark === 'error' ? 'has a problem' : 'has a warning';
  return <Icon size={15} className={`problem-mark ${mark}`} role="img" aria-label={name} />;
}

interface ControlItemProps {
  readonly id: string;
  readonly name: string;
  readonly isSelected: boolean;
  readonly mark: ProblemMark;
  readonly onSelect: () => void;
}

/** The control itself: the first row of the tree. */
export const ControlItem = memo(function ControlItem({
  id,
  name,
  isSelected,
  mark,
  onSelect,
}: ControlItemProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names the active item
    <div
      role="treeitem"
      id={id}
      className="tree-item"
      aria-level={1}
      aria-posinset={1}
      aria-setsize={1}
      aria-expanded={true}
      aria-selected={isSelected}
      onClick={onSelect}
    >
      <IconShieldCheck size={15} aria-hidden="true" />
      <span className="tree-text">
        <strong>Control</strong> {name !== '' && <UserText text={name} max={40} />}
      </span>
      {mark !== null && <MarkSign mark={mark} />}
    </div>
  );
});
