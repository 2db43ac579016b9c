import { createClient } from '@connectrpc/connect';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { AgentService } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import type { Warning } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import { transport } from '../api/transport.js';
import { draftMessage } from './draft-message.js';
import { isSameJson, type JsonObject } from './json.js';
import type { DraftProblem } from './problem.js';
import { errorInfoOf, violationsOf } from './violations.js';

const controls = createClient(ControlService, transport);
const agents = createClient(AgentService, transport);

/** The stored control that a draft started from. */
export interface StoredControl {
  readonly controlId: number;
  readonly version: bigint;
}

/** What is stored, as far as the editor knows. Without `control`, nothing is. */
export interface SavedState {
  readonly control: StoredControl | null;
  readonly name: string;
  readonly draft: JsonObject;
}

export type SaveOutcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'saving' }
  /** Saved with warnings, or created and not linked. */
  | {
      readonly kind: 'saved';
      readonly controlId: number;
      readonly warnings: readonly Warning[];
      readonly linkError: unknown;
    }
  /** Someone else has changed the control. */
  | { readonly kind: 'conflict'; readonly currentVersion: bigint }
  /** The server names the members. */
  | { readonly kind: 'refused'; readonly problems: readonly DraftProblem[] }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Saving {
  readonly saved: SavedState;
  readonly outcome: SaveOutcome;
  /** Stores a draft. With a version, it replaces what was stored as that version. */
  readonly save: (name: string, draft: JsonObject, overVersion?: bigint) => void;
  /** Goes on from another stored state. */
  readonly take: (saved: SavedState) => void;
  readonly dismiss: () => void;
}

interface SaveOptions {
  /** The agent that a new control is linked to. Blank: none. */
  readonly linkTo: string;
  /** Called after a save without warnings. */
  readonly onDone: (controlId: number) => void;
}

/** Stores drafts, only over the version that they started from. */
export function useSave(start: SavedState, { linkTo, onDone }: SaveOptions): Saving {
  const [saved, setSaved] = useState(start);
  const [outcome, setOutcome] = useState<SaveOutcome>({ kind: 'none' });
  const isSaving = useRef(false);
  const queries = useQueryClient();

  async function store(
    name: string,
    draft: JsonObject,
    overVersion: bigint | undefined,
  ): Promise<SaveOutcome> {
    const { message, problems } = draftMessage(draft);
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) return { kind: 'refused', problems: errors };
    if (saved.control === null) {
      const { controlId, version, warnings } = await controls.createControl({ name, data: message });
      setSaved({ control: { controlId, version }, name, draft });
      const linkError = linkTo === '' ? null : await linkFailure(linkTo, controlId);
      return { kind: 'saved', controlId, warnings, linkError };
    }
    const { controlId } = saved.control;
    let version = overVersion ?? saved.control.version;
    if (name !== saved.name) {
      const renamed = await controls.updateControl({ controlId, name, ifVersion: version });
      version = renamed.version;
      // The definition may still be refused. Then the next attempt starts from here.
      setSaved({ ...saved, name: renamed.name, control: { controlId, version } });
    }
    if (overVersion === undefined && isSameJson(draft, saved.draft)) {
      return { kind: 'saved', controlId, warnings: [], linkError: null };
    }
    const written = await controls.setControlData({ controlId, data: message, ifVersion: version });
    setSaved({ control: { controlId, version: written.version }, name, draft });
    return { kind: 'saved', controlId, warnings: written.warnings, linkError: null };
  }

  function save(name: string, draft: JsonObject, overVersion?: bigint): void {
    // A key that is pressed twice must not store twice.
    if (isSaving.current) return;
    isSaving.current = true;
    setOutcome({ kind: 'saving' });
    store(name.trim(), draft, overVersion)
      .catch(failureOf)
      .then((next) => {
        isSaving.current = false;
        if (next.kind === 'saved') void queries.invalidateQueries();
        const isDone = next.kind === 'saved' && next.warnings.length === 0 && next.linkError === null;
        setOutcome(isDone ? { kind: 'none' } : next);
        if (isDone) onDone(next.controlId);
      });
  }
  const dismiss = (): void => setOutcome({ kind: 'none' });
  const take = (next: SavedState): void => {
    setSaved(next);
    dismiss();
  };
  return { saved, outcome, save, take, dismiss };
}

async function linkFailure(agentName: string, controlId: number): Promise<unknown> {
  try {
    await agents.addAgentControl({ agentName, controlId });
    return null;
  } catch (error) {
    return error;
  }
}

function failureOf(error: unknown): SaveOutcome {
  const { reason, facts } = errorInfoOf(error);
  if (reason === 'VERSION_MISMATCH' && facts.current_version !== undefined) {
    return { kind: 'conflict', currentVersion: BigInt(facts.current_version) };
  }
  if (reason === 'CONTROL_NAME_CONFLICT') {
    const message = 'Another control has this name.';
    return { kind: 'refused', problems: [{ field: 'name', message, severity: 'error' }] };
  }
  const problems = violationsOf(error);
  return problems === null ? { kind: 'failed', error } : { kind: 'refused', problems };
}
