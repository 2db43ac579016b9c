import { type PackInstallation, PackService } from '@gen/enforcement/v1/pack_service_pb.js';
import { useState } from 'react';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { numberOf } from '../ui/numbers.js';

/** What was uninstalled. */
export interface Uninstalled {
  readonly policyId: number;
  readonly policyName: string;
  /** Numbers of controls. */
  readonly deleted: number;
  readonly kept: number;
}

interface UninstallButtonProps {
  readonly installation: PackInstallation;
  readonly onUninstalled: (uninstalled: Uninstalled) => void;
}

/** Removes an installation after saying what becomes of its controls. */
export function UninstallButton({ installation, onUninstalled }: UninstallButtonProps) {
  const { installationId, packName, policyId, policyName, controls } = installation;
  const [force, setForce] = useState(false);
  const uninstall = useChange(PackService.method.uninstallPack, ({ deletedControls, keptControls }) =>
    onUninstalled({ policyId, policyName, deleted: deletedControls.length, kept: keptControls.length }),
  );
  const present = controls.filter(({ controlId }) => controlId !== undefined);
  const changed = present.filter((one) => one.changed).length;
  return (
    <ConfirmButton
      verb="Uninstall"
      object={`${packName} from ${policyName}`}
      label="Uninstall…"
      change={uninstall}
      onConfirm={() => uninstall.mutateAsync({ installationId, ...(force ? { force } : {}) })}
    >
      <p>
        {numberOf(present.length, 'control')} leave the policy and check none of its agents any more. Those
        that nothing else uses are deleted. This cannot be undone; installing the pack again makes new
        controls.
      </p>
      {changed > 0 && (
        <label className="check-field">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
          <span>
            Delete the {numberOf(changed, 'control')} that {changed === 1 ? 'was' : 'were'} changed here as
            well. Otherwise {changed === 1 ? 'it is' : 'they are'} kept without the policy.
          </span>
        </label>
      )}
    </ConfirmButton>
  );
}
