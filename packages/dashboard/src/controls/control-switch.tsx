import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useQueryClient } from '@tanstack/react-query';
import { useId, useRef } from 'react';
import {
  ControlService,
  type GetControlResponse,
} from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import { errorText } from '../shared/error-text.js';

/** Switches a control on or off, after a confirmation that names the number of affected agents. */
export function ControlSwitch({ control }: { readonly control: GetControlResponse }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const queries = useQueryClient();
  const isOn = control.data?.enabled !== false;
  const verb = isOn ? 'Switch off' : 'Switch on';
  const usage = useQuery(ControlService.method.listControlAgents, { controlId: control.id, limit: 1 });
  const change = useMutation(ControlService.method.updateControl, {
    onSuccess: () => {
      dialog.current?.close();
      return queries.invalidateQueries();
    },
  });
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        {verb}
      </button>
      <dialog ref={dialog} aria-labelledby={titleId} onClose={() => change.reset()}>
        <h2 id={titleId}>
          {verb} <bdi>{control.name}</bdi>?
        </h2>
        <p>
          {isOn ? 'It will no longer check' : 'It will check'} the steps of{' '}
          {usage.data?.pagination?.total ?? '…'} agents.
        </p>
        {change.error !== null && (
          <p className="problem" role="alert">
            {errorText(change.error).detail}
          </p>
        )}
        <div className="dialog-actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button
            type="button"
            className="primary"
            disabled={change.isPending}
            onClick={() =>
              change.mutate({ controlId: control.id, enabled: !isOn, ifVersion: control.version })
            }
          >
            {verb} <bdi>{control.name}</bdi>
          </button>
        </div>
      </dialog>
    </>
  );
}
