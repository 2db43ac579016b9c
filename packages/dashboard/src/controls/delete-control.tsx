import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { useLocation } from 'wouter';
import { targetText } from '../bindings/target-text.js';
import { OwnedNote } from '../control-parts/owned-note.js';
import { useBoundTargets, useUsageText } from '../control-parts/use-control-usage.js';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { UserText } from '../ui/user-text.js';
import { deleteUndo, readRemains } from '../undo/control-undo.js';
import { offerUndo } from '../undo/undo-store.js';

/** Deletes a control, after a confirmation that says who uses it. */
export function DeleteControl({ control }: { readonly control: GetControlResponse }) {
  const [, open] = useLocation();
  const usage = useUsageText(control.id);
  const { total, bindings } = useBoundTargets(control.id);
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
      <OwnedNote what="control" owner={control.owner} />
      {bindings.length > 0 && (
        <>
          <p>Its bindings to targets go with it:</p>
          <ul aria-label="Bindings">
            {bindings.map((binding) => (
              <li key={binding.id}>
                <UserText text={targetText(binding)} />
                {!binding.enabled && <span className="muted"> off</span>}
              </li>
            ))}
            {total > bindings.length && (
              <li className="muted">and {(total - bindings.length).toLocaleString()} more</li>
            )}
          </ul>
        </>
      )}
    </ConfirmButton>
  );
}
