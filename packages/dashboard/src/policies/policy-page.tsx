import { useQuery } from '@connectrpc/connect-query';
import { type Policy, PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { useId, useRef } from 'react';
import { useLocation } from 'wouter';
import { OwnedBy, OwnedNote } from '../control-parts/owned-note.js';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ActionMenu } from '../ui/action-menu.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { NameForm } from '../ui/fields/name-form.js';
import { numberOf } from '../ui/numbers.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import type { Tab } from '../ui/page/tabs.js';
import { QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { policyDeleteUndo, readPolicyRemains } from '../undo/policy-undo.js';
import { offerUndo } from '../undo/undo-store.js';
import { PolicyAgents } from './policy-agents.js';
import { PolicyControls } from './policy-controls.js';

/** One policy: its controls and its agents. */
export default function PolicyPage() {
  return <ByNumber what="A policy">{(id) => <PolicyOfId policyId={id} />}</ByNumber>;
}

function PolicyOfId({ policyId }: { readonly policyId: number }) {
  const query = useQuery(PolicyService.method.getPolicy, { policyId });
  const mayChange = useMay('policies.write');
  const policy = query.data?.policy;
  const name = policy?.name ?? `Policy ${policyId}`;
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={
        mayChange &&
        policy !== undefined && (
          <ActionMenu label="More">
            <RenamePolicy policy={policy} />
            <div>
              <EveryAgent policy={policy} />
            </div>
            <hr />
            <div className="dangerous">
              <DeletePolicy policy={policy} />
            </div>
          </ActionMenu>
        )
      }
    >
      <QueryState query={query} what="the policy">
        {({ policy: found }) => {
          if (found === undefined) return null;
          const tabs: readonly Tab[] = [
            {
              id: 'controls',
              name: `Controls (${found.controlIds.length})`,
              content: <PolicyControls policy={found} />,
            },
            { id: 'agents', name: `Agents (${found.agentCount})`, content: <PolicyAgents policy={found} /> },
          ];
          return (
            <>
              <OwnedBy owner={found.owner} />
              {found.everyAgent && <p>Every agent has this policy, also those that are registered later.</p>}
              <AddressTabs label="Policy" tabs={tabs} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

/** Gives the policy another name, in a dialog. */
function RenamePolicy({ policy }: { readonly policy: Policy }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const rename = useChange(PolicyService.method.updatePolicy, () => dialog.current?.close());
  return (
    <div>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        Rename…
      </button>
      <dialog ref={dialog} aria-labelledby={titleId} onClose={() => rename.reset()}>
        <h2 id={titleId}>Name of the policy</h2>
        <OwnedNote what="policy" owner={policy.owner} />
        <NameForm
          key={policy.name}
          title="Name of the policy"
          label="Name"
          verb="Rename"
          current={policy.name}
          change={rename}
          onSubmit={(name) => rename.mutate({ policyId: policy.id, name, ifVersion: policy.version })}
        />
        <div className="dialog-actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </dialog>
    </div>
  );
}

/** Marks the policy for every agent, or ends this. */
function EveryAgent({ policy }: { readonly policy: Policy }) {
  const update = useChange(PolicyService.method.updatePolicy);
  const { everyAgent } = policy;
  return (
    <ConfirmButton
      verb={everyAgent ? 'End for every agent' : 'Give to every agent'}
      object={policy.name}
      change={update}
      onConfirm={() =>
        update.mutateAsync({ policyId: policy.id, everyAgent: !everyAgent, ifVersion: policy.version })
      }
    >
      <p>
        {everyAgent
          ? `Agents that are registered from now on will not have it. The ${numberOf(policy.agentCount, 'agent')} with it keep it.`
          : 'All agents will have it at once, and those that are registered later from their start.'}
      </p>
      <OwnedNote what="policy" owner={policy.owner} />
    </ConfirmButton>
  );
}

function DeletePolicy({ policy }: { readonly policy: Policy }) {
  const [, open] = useLocation();
  const remove = useChange(PolicyService.method.deletePolicy, () => open('/policies'));
  return (
    <ConfirmButton
      verb="Delete"
      object={policy.name}
      change={remove}
      onConfirm={async () => {
        const remains = await readPolicyRemains(policy).catch(() => null);
        await remove.mutateAsync({ policyId: policy.id, force: true, ifVersion: policy.version });
        if (remains !== null) offerUndo(policyDeleteUndo(remains));
      }}
    >
      <p>
        It will no longer check the steps of {numberOf(policy.agentCount, 'agent')} with its{' '}
        {numberOf(policy.controlIds.length, 'control')}. The controls themselves remain.
      </p>
      <OwnedNote what="policy" owner={policy.owner} />
    </ConfirmButton>
  );
}
