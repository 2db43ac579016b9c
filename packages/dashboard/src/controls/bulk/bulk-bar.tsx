import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ControlSummary, ListControlsRequestSchema } from '@gen/enforcement/v1/control_service_pb.js';
import { useState } from 'react';
import { numberOf } from '../../ui/numbers.js';
import { SelectionBar } from '../../ui/table/selection-bar.js';
import type { Selection } from '../../ui/table/use-selection.js';
import { type BulkAction, DELETE, SWITCH_OFF, SWITCH_ON } from './bulk-actions.js';
import { BulkDialog } from './bulk-dialog.js';
import { BulkPolicyDialog } from './bulk-policy-dialog.js';
import { type ChosenControls, controlsAtHand, matchingControls } from './chosen-controls.js';

const ACTIONS: readonly BulkAction[] = [SWITCH_ON, SWITCH_OFF, DELETE];

interface BulkBarProps {
  /** The controls of the page. */
  readonly shown: readonly ControlSummary[];
  /** Number of controls that match the filters. */
  readonly total: number;
  readonly filter: MessageInitShape<typeof ListControlsRequestSchema>;
  readonly selection: Selection<ControlSummary>;
}

interface OpenDialog {
  readonly action: BulkAction | 'add' | 'remove';
  /** The selection as it was when the dialog opened: the list is read again while it is open. */
  readonly controls: ChosenControls;
}

/** Selects controls, also those that are not shown, and acts on the selected ones. */
export function BulkBar({ shown, total, filter, selection }: BulkBarProps) {
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const count = selection.count(shown, total);
  const start = (action: OpenDialog['action']): void => {
    const controls = selection.isAll
      ? matchingControls(filter, selection.has, count)
      : controlsAtHand(shown.filter(selection.has));
    setOpen({ action, controls });
  };
  const onClose = (remaining: readonly ControlSummary[] | null): void => {
    if (remaining !== null) selection.choose(remaining);
    setOpen(null);
  };
  if (shown.length === 0 && open === null) return null;
  return (
    <>
      <SelectionBar selection={selection} shown={shown} total={total} what="control">
        {ACTIONS.map((action) => (
          <button key={action.verb} type="button" onClick={() => start(action)}>
            {action.verb}…
          </button>
        ))}
        <button type="button" onClick={() => start('add')}>
          Add to a policy…
        </button>
        <button type="button" onClick={() => start('remove')}>
          Remove from a policy…
        </button>
      </SelectionBar>
      {open !== null && typeof open.action === 'string' && (
        <BulkPolicyDialog what={open.action} controls={open.controls} onClose={onClose} />
      )}
      {open !== null && typeof open.action !== 'string' && (
        <BulkDialog
          title={`${open.action.verb} ${numberOf(open.controls.count, 'control')}?`}
          action={open.action}
          controls={open.controls}
          onClose={onClose}
        />
      )}
    </>
  );
}
