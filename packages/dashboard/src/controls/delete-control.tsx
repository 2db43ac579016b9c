import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { useLocation } from 'wouter';
import { useUsageText } from '../control-parts/use-control-usage.js';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { deleteUndo, readRemains } from '../undo/control-undo.js';
import { offerUndo } from '../undo/undo-store.js';

/** Deletes a control, after a confirmation that says who uses it. */
export function DeleteControl({ control }: { readonly control: GetControlResponse }) {
  const [, open] = useLocation();
  const usage = useUsageText(control.id);
  const remove = useChange(ControlService.method.deleteControl, () => open('/controls'));
  return (
    <ConfirmButton
      verb="Delete"
      object={control.name}
      change={remove}
      onConfirm={async () => {
        const remains = await readRemains(control.id).catch(() => null);
        await remove.mutateAsync({ controlId: control.id, force: true, ifVersion: control.version });
        if (remains !== null) offerUndo(deleteUndo(remains));
      }}
    >
      <p>
        It is used by {usage}. Their steps are no longer checked by it. Its events and versions are kept. For
        a moment it can be created again, with its links and under a new number.
      </p>
    </ConfirmButton>
  );
}
