import { createClient } from '@connectrpc/connect';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { type Dispatch, useState } from 'react';
import { transport } from '../data/transport.js';
import type { HeldNavigation } from '../ui/page/leave-guard.js';
import { ErrorState } from '../ui/states.js';
import type { EditorAction, EditorState } from './editor-state.js';
import { ConflictDialog, LeaveDialog, SavedNotice } from './save-dialogs.js';
import { draftOf } from './stored-draft.js';
import type { Saving } from './use-save.js';

const controls = createClient(ControlService, transport);

interface SaveProgressProps {
  readonly state: EditorState;
  readonly dispatch: Dispatch<EditorAction>;
  readonly saving: Saving;
  readonly held: HeldNavigation;
  readonly linkTo: string;
  readonly onOverwrite: (version: bigint) => void;
  /** Forgets the draft, for changes that are given up. */
  readonly onDiscard: () => void;
}

/** What saving needs an answer for: warnings, a conflict, changes that would be lost. */
export function SaveProgress(props: SaveProgressProps) {
  const { state, dispatch, saving, held, linkTo, onOverwrite, onDiscard } = props;
  const { outcome, saved } = saving;
  const [readError, setReadError] = useState<unknown>(null);

  /** Goes on with what is stored now. What was written stays in the list of steps that can be undone. */
  async function takeTheirs(controlId: number): Promise<void> {
    try {
      const control = await controls.getControl({ controlId });
      const draft = draftOf(control.data);
      if (draft === null) throw new Error('The stored definition cannot be read.');
      saving.take({ control: { controlId, version: control.version }, name: control.name, draft });
      dispatch({ type: 'load', name: control.name, draft });
      setReadError(null);
    } catch (error) {
      setReadError(error);
      saving.dismiss();
    }
  }
  return (
    <>
      {readError !== null && <ErrorState error={readError} />}
      {outcome.kind === 'saved' && (
        <SavedNotice
          outcome={outcome}
          linkTo={linkTo}
          onDismiss={() => {
            // Another visit of the address does not show them again.
            window.history.replaceState(null, '');
            saving.dismiss();
          }}
        />
      )}
      {outcome.kind === 'conflict' && saved.control !== null && (
        <ConflictDialog
          control={saved.control}
          name={saved.name}
          currentVersion={outcome.currentVersion}
          onOverwrite={() => onOverwrite(outcome.currentVersion)}
          onTakeTheirs={() => void takeTheirs(saved.control?.controlId ?? 0)}
          onClose={saving.dismiss}
        />
      )}
      {held.isHeld && <LeaveDialog name={state.name} held={held} onDiscard={onDiscard} />}
    </>
  );
}
