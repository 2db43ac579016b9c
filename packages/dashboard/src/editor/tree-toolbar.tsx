import {
  IconArrowBackUp,
  IconArrowDown,
  IconArrowForwardUp,
  IconArrowUp,
  IconBoxMultiple,
  IconCopy,
  IconIndentDecrease,
  IconIndentIncrease,
  IconPlus,
  IconTrash,
  IconUnlink,
  type TablerIcon,
} from '@tabler/icons-react';
import type { Ref } from 'react';
import { MenuButton } from './menu-button.js';
import type { TreeEdits } from './use-tree-edits.js';

export interface UndoActions {
  readonly undo: (() => void) | null;
  readonly redo: (() => void) | null;
}

interface TreeToolbarProps {
  readonly edits: TreeEdits;
  readonly history: UndoActions;
  readonly addButton: Ref<HTMLButtonElement>;
  /** Called after an edit, which may disable the button that has the focus. */
  readonly onDone: () => void;
}

/** Buttons for everything that the keys of the tree do. */
export function TreeToolbar({ edits, history, addButton, onDone }: TreeToolbarProps) {
  const { add, wrap } = edits;
  const then = (action: () => void) => (): void => {
    action();
    onDone();
  };
  /** Icon, name, keys, and what it does; null: not possible now. */
  const tools: readonly (readonly [TablerIcon, string, string, (() => void) | null])[] = [
    [IconUnlink, 'Unwrap', '', edits.unwrap],
    [IconCopy, 'Duplicate', '', edits.duplicate],
    [IconTrash, 'Delete', 'Delete', edits.remove],
    [IconArrowUp, 'Move up', 'Alt+↑', edits.moveUp],
    [IconArrowDown, 'Move down', 'Alt+↓', edits.moveDown],
    [IconIndentDecrease, 'Move out', 'Alt+←', edits.moveOut],
    [IconIndentIncrease, 'Move in', 'Alt+→', edits.moveIn],
    [IconArrowBackUp, 'Undo', 'Ctrl+Z', history.undo],
    [IconArrowForwardUp, 'Redo', 'Ctrl+Shift+Z', history.redo],
  ];
  return (
    <fieldset className="tree-toolbar" aria-label="Change the selected node">
      <MenuButton
        label="Add"
        icon={<IconPlus size={16} aria-hidden="true" />}
        buttonRef={addButton}
        items={[
          { name: 'Check', hint: 'an evaluator on a part of the step', run: then(() => add('check')) },
          { name: 'AND', hint: 'every condition below must match', run: then(() => add('and')) },
          { name: 'OR', hint: 'one condition below must match', run: then(() => add('or')) },
          { name: 'NOT', hint: 'the condition below must not match', run: then(() => add('not')) },
        ]}
      />
      <MenuButton
        label="Wrap"
        icon={<IconBoxMultiple size={16} aria-hidden="true" />}
        disabled={wrap === null}
        items={[
          { name: 'in AND', run: then(() => wrap?.('and')) },
          { name: 'in OR', run: then(() => wrap?.('or')) },
          { name: 'in NOT', run: then(() => wrap?.('not')) },
        ]}
      />
      {tools.map(([Icon, name, keys, run]) => (
        <button
          key={name}
          type="button"
          className="icon"
          aria-label={name}
          title={keys === '' ? name : `${name} (${keys})`}
          disabled={run === null}
          onClick={then(() => run?.())}
        >
          <Icon size={16} aria-hidden="true" />
        </button>
      ))}
    </fieldset>
  );
}
