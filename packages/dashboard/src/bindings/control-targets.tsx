import { useInfiniteQuery } from '@connectrpc/connect-query';
import {
  type ControlBinding,
  ControlBindingService,
} from '@gen/enforcement/v1/control_binding_service_pb.js';
import type { GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { List } from '../ui/list/list.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { offerUndo } from '../undo/undo-store.js';
import { BindForm } from './bind-form.js';
import { bindingUndo } from './binding-undo.js';
import { CloneAndBind } from './clone-and-bind.js';
import { targetText } from './target-text.js';

interface ControlProps {
  readonly control: GetControlResponse;
}

const COLUMNS: Columns<ControlBinding> = [
  { head: 'Type of the target', cell: ({ targetType }) => <UserText text={targetType} /> },
  { head: 'Id of the target', cell: ({ targetId }) => <UserText text={targetId} /> },
  {
    head: 'State',
    cell: ({ enabled }) => (enabled ? 'on' : <span className="muted">off</span>),
  },
  { head: 'Last change', cell: ({ updatedAt }) => <TimeText time={updatedAt} /> },
];

/** The targets that a control is bound to; an editor binds it, switches bindings and removes them. */
export function ControlTargets({ control }: ControlProps) {
  const mayWrite = useMay('bindings.write');
  const mayClone = useMay('controls.write') && mayWrite;
  const query = useInfiniteQuery(
    ControlBindingService.method.listControlBindings,
    { controlId: control.id, ...FIRST_PAGE },
    BY_CURSOR,
  );
  return (
    <>
      {mayWrite && <BindForm controlId={control.id} />}
      {mayClone && <CloneAndBind control={control} />}
      <List
        label="Targets that this control is bound to"
        what="targets"
        query={query}
        rowsOf={({ bindings }) => bindings}
        keyOf={({ id }) => id}
        empty={<NoTargets />}
        columns={[
          ...COLUMNS,
          mayWrite && {
            head: 'Action',
            isWhole: true,
            cell: (binding) => (
              <span className="ways">
                <SwitchBinding control={control} binding={binding} />
                <RemoveBinding control={control} binding={binding} />
              </span>
            ),
          },
        ]}
      />
    </>
  );
}

function NoTargets() {
  return (
    <Empty title="This control is bound to no target">
      <p>
        A target is what an agent works on, such as a project or a log stream. A control that is bound to it
        checks the steps of every agent that names this target, without a link to the agent.
      </p>
    </Empty>
  );
}

interface BindingProps extends ControlProps {
  readonly binding: ControlBinding;
}

function SwitchBinding({ control, binding }: BindingProps) {
  const update = useChange(ControlBindingService.method.updateControlBinding);
  const { enabled } = binding;
  return (
    <ConfirmButton
      verb={enabled ? 'Switch off' : 'Switch on'}
      object={targetText(binding)}
      change={update}
      onConfirm={() => update.mutateAsync({ bindingId: binding.id, enabled: !enabled })}
    >
      <p>
        <UserText text={control.name} />{' '}
        {enabled
          ? 'no longer checks the steps of agents that work on this target, unless it is linked to them.'
          : 'checks the steps of all agents that work on this target.'}
      </p>
    </ConfirmButton>
  );
}

function RemoveBinding({ control, binding }: BindingProps) {
  const remove = useChange(ControlBindingService.method.deleteControlBinding);
  return (
    <ConfirmButton
      verb="Remove"
      object={targetText(binding)}
      change={remove}
      onConfirm={() =>
        remove.mutateAsync({ bindingId: binding.id }).then(() => offerUndo(bindingUndo(control, binding)))
      }
    >
      <p>
        <UserText text={control.name} /> no longer checks the steps of agents that work on this target, unless
        it is linked to them. The control itself remains.
      </p>
    </ConfirmButton>
  );
}
