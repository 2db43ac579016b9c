import { createClient } from '@connectrpc/connect';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useRef, useState } from 'react';
import { transport } from '../data/transport.js';
import { useRefresh } from '../data/use-change.js';
import { errorText } from '../ui/error-text.js';
import { draftMessage } from './draft-message.js';
import { isSameJson, type JsonObject } from './json.js';
import type { DraftProblem } from './problem.js';
import { errorInfoOf, refusedProblems } from './violations.js';

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

/** A warning of a reply, in a form that the history of the browser keeps. */
export type SavedWarning = Pick<Warning, 'field' | 'message'>;

export type SaveOutcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'saving' }
  /** Saved with warnings, or created and not linked. */
  | {
      readonly kind: 'saved';
      readonly controlId: number;
      readonly warnings: readonly SavedWarning[];
      /** Why a new control could not be linked to its agent. */
      readonly linkProblem: string | null;
    }
  /** Someone else has changed the control. */
  | { readonly kind: 'conflict'; readonly currentVersion: bigint }
  /** The server names the members. */
  | { readonly kind: 'refused'; readonly problems: readonly DraftProblem[] }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A control that was stored. */
export type SavedOutcome = Extract<SaveOutcome, { kind: 'saved' }>;

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
  /** Called after the first save of a new control that has warnings. */
  readonly onCreated: (outcome: SavedOutcome) => void;
  /** What became of a save before the page was opened. */
  readonly before: SaveOutcome;
}

function keptWarnings(warnings: readonly Warning[]): readonly SavedWarning[] {
  return warnings.map(({ field, message }) => ({ field, message }));
}

/** Stores drafts, only over the version that they started from. */
export function useSave(start: SavedState, { linkTo, onDone, onCreated, before }: SaveOptions): Saving {
  const [saved, setSaved] = useState(start);
  const [outcome, setOutcome] = useState<SaveOutcome>(before);
  const isSaving = useRef(false);
  const refresh = useRefresh();

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
      const linkProblem = linkTo === '' ? null : await linkFailure(linkTo, controlId);
      return { kind: 'saved', controlId, warnings: keptWarnings(warnings), linkProblem };
    }
    const { controlId } = saved.control;
    let version = overVersion ?? saved.control.version;
    let warnings: readonly Warning[] = [];
    if (name !== saved.name) {
      const renamed = await controls.updateControl({ controlId, name, ifVersion: version });
      ({ version, warnings } = renamed);
      // The definition may still be refused. Then the next attempt starts from here.
      setSaved({ ...saved, name: renamed.name, control: { controlId, version } });
    }
    if (overVersion === undefined && isSameJson(draft, saved.draft)) {
      return { kind: 'saved', controlId, warnings: keptWarnings(warnings), linkProblem: null };
    }
    const written = await controls.setControlData({ controlId, data: message, ifVersion: version });
    setSaved({ control: { controlId, version: written.version }, name, draft });
    return { kind: 'saved', controlId, warnings: keptWarnings(written.warnings), linkProblem: null };
  }

  function save(name: string, draft: JsonObject, overVersion?: bigint): void {
    // A key that is pressed twice must not store twice.
    if (isSaving.current) return;
    isSaving.current = true;
    const isNew = saved.control === null;
    setOutcome({ kind: 'saving' });
    store(name.trim(), draft, overVersion)
      .catch(failureOf)
      .then((next) => {
        isSaving.current = false;
        if (next.kind === 'saved') refresh(ControlService.method.setControlData);
        const isDone = next.kind === 'saved' && next.warnings.length === 0 && next.linkProblem === null;
        setOutcome(isDone ? { kind: 'none' } : next);
        if (isDone) onDone(next.controlId);
        else if (next.kind === 'saved' && isNew) onCreated(next);
      });
  }
  const dismiss = (): void => setOutcome({ kind: 'none' });
  const take = (next: SavedState): void => {
    setSaved(next);
    dismiss();
  };
  return { saved, outcome, save, take, dismiss };
}

async function linkFailure(agentName: string, controlId: number): Promise<string | null> {
  try {
    await agents.addAgentControl({ agentName, controlId });
    return null;
  } catch (error) {
    return errorText(error).detail;
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
  const problems = refusedProblems(error);
  return problems === null ? { kind: 'failed', error } : { kind: 'refused', problems };
}
