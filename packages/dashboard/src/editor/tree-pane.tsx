import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type Dispatch,
  type KeyboardEvent,
  type Ref,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { isSamePath } from './condition-tree.js';
import { conditionOf, type EditorAction, type EditorState } from './editor-state.js';
import type { NodeResults } from './node-results.js';
import { markOf, type ProblemIndex } from './problem-index.js';
import { ControlItem, type RowActions, TreeItem } from './tree-item.js';
import { treeKeyAction } from './tree-keys.js';
import { type TreeRow, treeRows } from './tree-rows.js';
import { TreeToolbar } from './tree-toolbar.js';
import { useTreeDrag } from './use-tree-drag.js';
import { useTreeEdits } from './use-tree-edits.js';
import './tree-pane.css';

const ROW_PX = 34;

interface TreePaneProps {
  readonly state: EditorState;
  readonly dispatch: Dispatch<EditorAction>;
  readonly problems: ProblemIndex;
  readonly results: NodeResults;
  readonly treeRef: Ref<HTMLDivElement>;
  readonly openForm: () => void;
}

/** The condition as a tree, in which nodes are selected, added, moved and removed. */
export function TreePane({ state, dispatch, problems, results, treeRef, openForm }: TreePaneProps) {
  const { draft, selected, name } = state;
  const id = useId();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const root = conditionOf(draft);
  const rows = useMemo(() => treeRows(root, closed), [root, closed]);
  const at = selected === null ? -1 : rows.findIndex(({ path }) => isSamePath(path, selected));
  const edits = useTreeEdits(state, dispatch);
  const drag = useTreeDrag(edits.move);
  const scroller = useRef<HTMLDivElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const virtual = useVirtualizer({
    count: rows.length + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    // The tree names the selected row as the active one, so it is there also when it is out of sight.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), at + 1])].sort((a, b) => a - b),
    getItemKey: (index) => rows[index - 1]?.key ?? 'control',
  });

  const toggle = useCallback(({ key }: TreeRow) => {
    setClosed((last) => {
      const next = new Set(last);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  }, []);
  const actions = useMemo<RowActions>(
    () => ({ ...drag.actions, toggle, select: ({ path }) => dispatch({ type: 'select', selected: path }) }),
    [drag.actions, toggle, dispatch],
  );
  const selectControl = useCallback(() => dispatch({ type: 'select', selected: null }), [dispatch]);

  // The selected node is visible, also if it is selected elsewhere: below a closed node, or out of sight.
  useEffect(() => {
    if (at >= 0 || selected === null) virtual.scrollToIndex(at + 1);
    else setClosed(new Set());
  }, [at, selected, virtual]);

  const focusTree = (): void => scroller.current?.focus();
  const history = {
    undo: state.past.length === 0 ? null : () => dispatch({ type: 'undo' }),
    redo: state.future.length === 0 ? null : () => dispatch({ type: 'redo' }),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const action = treeKeyAction(event, {
      rows,
      at,
      edits,
      history,
      toggle,
      openForm,
      selectAt: (index) => dispatch({ type: 'select', selected: rows[index]?.path ?? null }),
      openAddMenu: () => addButton.current?.click(),
    });
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    action?.();
  };
  const itemId = (key: string) => `${id}-${key}`;
  const activeKey = at < 0 ? 'control' : rows[at]?.key;
  return (
    <section className="editor-pane tree-pane" aria-label="Condition">
      <TreeToolbar edits={edits} history={history} addButton={addButton} onDone={focusTree} />
      <div
        ref={(element) => {
          scroller.current = element;
          if (typeof treeRef === 'function') treeRef(element);
          else if (treeRef !== null && treeRef !== undefined) treeRef.current = element;
        }}
        className="tree-scroll"
        role="tree"
        aria-label="Condition tree"
        aria-activedescendant={activeKey === undefined ? undefined : itemId(activeKey)}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onDragEnd={drag.actions.end}
      >
        <div role="presentation" className="tree-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index - 1];
            if (row === undefined) {
              return (
                <ControlItem
                  key="control"
                  id={itemId('control')}
                  name={name}
                  isSelected={selected === null}
                  mark={markOf(problems.control)}
                  onSelect={selectControl}
                />
              );
            }
            return (
              <TreeItem
                key={row.key}
                id={itemId(row.key)}
                row={row}
                top={start}
                isSelected={index - 1 === at}
                mark={markOf(problems.nodes.get(row.key))}
                result={results.get(row.key)}
                dropPlace={drag.target?.key === row.key ? drag.target.place : null}
                actions={actions}
              />
            );
          })}
        </div>
      </div>
      <p className="muted tree-hint">
        Arrows select, Enter edits, A adds, Delete removes, Alt+arrows move, Ctrl+Z undoes.
      </p>
    </section>
  );
}
