import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { useState } from 'react';
import { numberOf } from '../../ui/numbers.js';
import { type BulkAction, DELETE, SWITCH_OFF, SWITCH_ON } from './bulk-actions.js';
import { BulkAddToPolicy } from './bulk-add-to-policy.js';
import { BulkDialog } from './bulk-dialog.js';

const ACTIONS: readonly BulkAction[] = [SWITCH_ON, SWITCH_OFF, DELETE];

interface BulkBarProps {
  /** The controls of the page. */
  readonly shown: readonly ControlSummary[];
  readonly selected: readonly ControlSummary[];
  readonly onSelect: (controls: readonly ControlSummary[]) => void;
}

/** Selects all controls of the page, and acts on the selected ones. */
export function BulkBar({ shown, selected, onSelect }: BulkBarProps) {
  // The selection as it was when the dialog opened: the list is read again while it is open.
  const [open, setOpen] = useState<{
    readonly action: BulkAction | 'add to policy';
    readonly controls: readonly ControlSummary[];
  } | null>(null);
  const isAll = shown.length > 0 && shown.every(({ id }) => selected.some((control) => control.id === id));
  const start = (action: BulkAction | 'add to policy') => setOpen({ action, controls: selected });
  const onClose = (remaining: readonly ControlSummary[]): void => {
    onSelect(remaining);
    setOpen(null);
  };
  if (shown.length === 0 && open === null) return null;
  return (
    <section className="selection-bar" aria-label="Selected controls">
      <label className="links">
        <input
          type="checkbox"
          className="check"
          checked={isAll}
          ref={(box) => {
            if (box !== null) box.indeterminate = selected.length > 0 && !isAll;
          }}
          onChange={() => onSelect(isAll ? [] : shown)}
        />
        Select all {numberOf(shown.length, 'shown control')}
      </label>
      {selected.length > 0 && (
        <>
          <span role="status">{selected.length.toLocaleString()} selected</span>
          {ACTIONS.map((action) => (
            <button key={action.verb} type="button" onClick={() => start(action)}>
              {action.verb}…
            </button>
          ))}
          <button type="button" onClick={() => start('add to policy')}>
            Add to a policy…
          </button>
          <button type="button" onClick={() => onSelect([])}>
            Clear the selection
          </button>
        </>
      )}
      {open !== null && open.action === 'add to policy' && (
        <BulkAddToPolicy controls={open.controls} onClose={onClose} />
      )}
      {open !== null && open.action !== 'add to policy' && (
        <BulkDialog
          title={`${open.action.verb} ${numberOf(open.controls.length, 'control')}?`}
          action={open.action}
          controls={open.controls}
          onClose={onClose}
        />
      )}
    </section>
  );
}
