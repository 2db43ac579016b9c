import { useTransport } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useMutation } from '@tanstack/react-query';
import { useRefresh } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { installStarter } from './install-starter.js';
import { STARTER_CONTROLS, STARTER_POLICY } from './starter-policy.js';

/** Installs the starter policy after saying what that creates. */
export function InstallButton() {
  const mayChange = useMay('controls.write');
  const mayGive = useMay('policies.write');
  const transport = useTransport();
  const refresh = useRefresh();
  const install = useMutation({
    mutationFn: () => installStarter(transport),
    onSettled: () => {
      refresh(ControlService.method.createControl);
      refresh(PolicyService.method.updatePolicy);
    },
  });
  if (!mayChange || !mayGive)
    return (
      <p className="muted">A key that may write controls and policies can install it with one click here.</p>
    );
  return (
    <ConfirmButton
      verb="Install"
      object={STARTER_POLICY}
      label="Install a starter policy"
      change={install}
      onConfirm={() => install.mutateAsync()}
    >
      <p>It creates a policy with three controls, which check what steps are about to do:</p>
      <ul>
        {STARTER_CONTROLS.map(({ name, finds }) => (
          <li key={name}>
            <code>{name}</code> finds {finds}.
          </li>
        ))}
      </ul>
      <p>
        They observe: matches are recorded, and no step is denied. Every agent has the policy, also those that
        are registered later. All of it can be changed and deleted.
      </p>
    </ConfirmButton>
  );
}
