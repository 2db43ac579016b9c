import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { AffectedAgents } from '../control-parts/affected-agents.js';
import { OwnedNote } from '../control-parts/owned-note.js';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { switchUndo } from '../undo/control-undo.js';
import { offerUndo } from '../undo/undo-store.js';

/** Switches a control on or off, after a confirmation that names the number of affected agents. */
export function ControlSwitch({ control }: { readonly control: GetControlResponse }) {
  const isOn = control.data?.enabled !== false;
  const change = useChange(ControlService.method.updateControl);
  return (
    <ConfirmButton
      verb={isOn ? 'Switch off' : 'Switch on'}
      object={control.name}
      change={change}
      onConfirm={() =>
        change
          .mutateAsync({ controlId: control.id, enabled: !isOn, ifVersion: control.version })
          .then((reply) => offerUndo(switchUndo(control, !isOn, reply)))
      }
    >
      <p>
        {isOn ? 'It will no longer check' : 'It will check'} the steps of{' '}
        <AffectedAgents controlId={control.id} />.
      </p>
      <OwnedNote what="control" owner={control.owner} />
    </ConfirmButton>
  );
}
