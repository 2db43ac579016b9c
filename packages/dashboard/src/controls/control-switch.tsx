import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { numberOf } from '../ui/numbers.js';

/** Switches a control on or off, after a confirmation that names the number of affected agents. */
export function ControlSwitch({ control }: { readonly control: GetControlResponse }) {
  const isOn = control.data?.enabled !== false;
  const usage = useQuery(ControlService.method.listControlAgents, { controlId: control.id, limit: 1 });
  const change = useChange(ControlService.method.updateControl);
  return (
    <ConfirmButton
      verb={isOn ? 'Switch off' : 'Switch on'}
      object={control.name}
      change={change}
      onConfirm={() =>
        change.mutateAsync({ controlId: control.id, enabled: !isOn, ifVersion: control.version })
      }
    >
      <p>
        {isOn ? 'It will no longer check' : 'It will check'} the steps of{' '}
        {usage.data === undefined ? '… agents' : numberOf(usage.data.pagination?.total ?? 0, 'agent')}.
      </p>
    </ConfirmButton>
  );
}
