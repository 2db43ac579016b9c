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
      <ToolButton icon={IconUnlink} name="Unwrap" run={edits.unwrap} onDone={onDone} />
      <ToolButton icon={IconCopy} name="Duplicate" run={edits.duplicate} onDone={onDone} />
      <ToolButton icon={IconTrash} name="Delete" keys="Delete" run={edits.remove} onDone={onDone} />
      <ToolButton icon={IconArrowUp} name="Move up" keys="Alt+↑" run={edits.moveUp} onDone={onDone} />
      <ToolButton icon={IconArrowDown} name="Move down" keys="Alt+↓" run={edits.moveDown} onDone={onDone} />
      <ToolButton
        icon={IconIndentDecrease}
        name="Move out"
        keys="Alt+←"
        run={edits.moveOut}
        onDone={onDone}
      />
      <ToolButton icon={IconIndentIncrease} name="Move in" keys="Alt+→" run={edits.moveIn} onDone={onDone} />
      <ToolButton icon={IconArrowBackUp} name="Undo" keys="Ctrl+Z" run={history.undo} onDone={onDone} />
      <ToolButton
        icon={IconArrowForwardUp}
        name="Redo"
        keys="Ctrl+Shift+Z"
        run={history.redo}
        onDone={onDone}
      />
    </fieldset>
  );
}

interface ToolButtonProps {
  readonly icon: TablerIcon;
  readonly name: string;
  readonly keys?: string;
  /** Null: not possible now. */
  readonly run: (() => void) | null;
  readonly onDone: () => void;
}

function ToolButton({ icon: Icon, name, keys, run, onDone }: ToolButtonProps) {
  return (
    <button
      type="button"
      className="icon"
      aria-label={name}
      title={keys === undefined ? name : `${name} (${keys})`}
      disabled={run === null}
      onClick={() => {
        run?.();
        onDone();
      }}
    >
      <Icon size={16} aria-hidden="true" />
    </button>
  );
}
