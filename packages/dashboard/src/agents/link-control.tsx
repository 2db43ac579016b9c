import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useChange } from '../data/use-change.js';
import { useNameSearch } from '../data/use-name-search.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SearchToAdd } from '../ui/fields/search-to-add.js';
import { UserText } from '../ui/user-text.js';
import { Warnings } from '../ui/warnings.js';
import { unlinkUndo } from '../undo/link-undo.js';
import { offerUndo } from '../undo/undo-store.js';
import type { ControlOrigin } from './control-origins.js';

interface LinkControlProps {
  readonly agentName: string;
  readonly origins: ReadonlyMap<number, ControlOrigin>;
}

/** Links a control to an agent. Controls that its policies contain can be linked as well. */
export function LinkControl({ agentName, origins }: LinkControlProps) {
  const search = useNameSearch(ControlService.method.listControls);
  const link = useChange(AgentService.method.addAgentControl);
  const others = (search.data?.controls ?? []).filter(({ id }) => origins.get(id)?.isDirect !== true);
  return (
    <>
      <SearchToAdd
        what="control"
        search={search}
        found={others.map(({ id, name }) => [String(id), name] as const)}
        change={link}
        onAdd={(id) => link.mutateAsync({ agentName, controlId: Number(id) })}
      />
      <Warnings warnings={link.data?.warnings ?? []} />
    </>
  );
}

interface UnlinkControlProps {
  readonly agentName: string;
  readonly controlId: number;
  readonly name: string;
  readonly origin: ControlOrigin;
}

/** Removes the direct link, after saying what that changes. */
export function UnlinkControl({ agentName, controlId, name, origin }: UnlinkControlProps) {
  const unlink = useChange(AgentService.method.removeAgentControl);
  const { policies } = origin;
  return (
    <ConfirmButton
      verb="Unlink"
      object={name}
      change={unlink}
      onConfirm={() =>
        unlink
          .mutateAsync({ agentName, controlId })
          .then(() => offerUndo(unlinkUndo(agentName, { id: controlId, name })))
      }
    >
      {policies.length === 0 ? (
        <p>
          It no longer checks the steps of <UserText text={agentName} />. The control itself remains.
        </p>
      ) : (
        <p>
          It goes on checking the steps of <UserText text={agentName} />, because{' '}
          {policies.map(({ id, name: policy }, index) => (
            <span key={id}>
              {index > 0 && ', '}
              <UserText text={policy} />
            </span>
          ))}{' '}
          still {policies.length === 1 ? 'contains' : 'contain'} it.
        </p>
      )}
    </ConfirmButton>
  );
}
