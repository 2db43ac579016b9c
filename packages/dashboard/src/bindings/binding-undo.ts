import { createClient } from '@connectrpc/connect';
import { ControlBindingService } from '@gen/enforcement/v1/control_binding_service_pb.js';
import { transport } from '../data/transport.js';
import type { UndoOffer } from '../undo/undo-store.js';
import { targetText } from './target-text.js';

const bindings = createClient(ControlBindingService, transport);

interface Removed {
  readonly targetType: string;
  readonly targetId: string;
  readonly enabled: boolean;
}

/** For a binding that was removed. Its number is another one afterwards. */
export function bindingUndo(
  control: { readonly id: number; readonly name: string },
  { targetType, targetId, enabled }: Removed,
): UndoOffer {
  const target = targetText({ targetType, targetId });
  return {
    text: `${control.name} is no longer bound to ${target}.`,
    change: ControlBindingService.method.upsertControlBinding,
    async undo() {
      await bindings.upsertControlBinding({ controlId: control.id, targetType, targetId, enabled });
      return { text: `${control.name} is bound to ${target} again.` };
    },
  };
}
