import type { JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import type { ControlTemplate, Warning } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { ErrorInfoSchema } from '@gen/google/rpc/error_details_pb.js';
import { useRef, useState } from 'react';
import { type FieldViolation, fieldViolations } from '../data/field-violations.js';
import { transport } from '../data/transport.js';
import { useRefresh } from '../data/use-change.js';
import { givenValues } from './template-model.js';

const controls = createClient(ControlService, transport);

/** What is to be stored. */
export interface TemplateToSave {
  readonly template: ControlTemplate;
  readonly values: JsonObject;
}

/** A stored control, as far as saving needs it. */
export interface SavedControl {
  readonly controlId: number;
  readonly version: bigint;
  readonly warnings: readonly Warning[];
}

/** Where an attempt to save has led. */
export type SaveAttempt =
  | { readonly kind: 'none' }
  | { readonly kind: 'saving' }
  | { readonly kind: 'saved'; readonly control: SavedControl }
  | { readonly kind: 'conflict'; readonly currentVersion: bigint }
  | { readonly kind: 'refused'; readonly problems: readonly FieldViolation[] }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Runs one save at a time. `save` returns the stored control, or null if it was not stored. */
export function useSaveTemplate() {
  const [attempt, setAttempt] = useState<SaveAttempt>({ kind: 'none' });
  const isSaving = useRef(false);
  const refresh = useRefresh();
  async function save(store: () => Promise<SavedControl>): Promise<SavedControl | null> {
    // A button that is pressed twice must not store twice.
    if (isSaving.current) return null;
    isSaving.current = true;
    setAttempt({ kind: 'saving' });
    try {
      const control = await store();
      refresh(ControlService.method.setControlData);
      setAttempt({ kind: 'saved', control });
      return control;
    } catch (error) {
      setAttempt(attemptOf(error));
      return null;
    } finally {
      isSaving.current = false;
    }
  }
  return { attempt, save, dismiss: () => setAttempt({ kind: 'none' }) };
}

/** Stores a new control. With incomplete values, it is a draft. */
export async function createFromTemplate(
  name: string,
  { template, values }: TemplateToSave,
): Promise<SavedControl> {
  const data = { template, templateValues: givenValues(values) };
  return controls.createControl({ name: name.trim(), data });
}

interface StoreOptions {
  readonly controlId: number;
  /** The version that is replaced. */
  readonly version: bigint;
  readonly isToBeOn: boolean;
  /** Called when the values are stored. Switching on may still fail. */
  readonly onStored: (version: bigint) => void;
}

/** Stores other values of a control over a version, and switches it on if that is wanted. */
export async function storeValues(
  { template, values }: TemplateToSave,
  { controlId, version, isToBeOn, onStored }: StoreOptions,
): Promise<SavedControl> {
  const data = { template, templateValues: givenValues(values) };
  const written = await controls.setControlData({ controlId, data, ifVersion: version });
  onStored(written.version);
  if (!isToBeOn) return { controlId, version: written.version, warnings: written.warnings };
  const on = await controls.updateControl({ controlId, enabled: true, ifVersion: written.version });
  return { controlId, version: on.version, warnings: [...written.warnings, ...on.warnings] };
}

function attemptOf(error: unknown): SaveAttempt {
  const failure = ConnectError.from(error);
  const [info] = failure.findDetails(ErrorInfoSchema);
  const current = info?.metadata.current_version;
  if (info?.reason === 'VERSION_MISMATCH' && current !== undefined) {
    return { kind: 'conflict', currentVersion: BigInt(current) };
  }
  if (failure.code === Code.AlreadyExists) {
    return { kind: 'refused', problems: [{ path: 'name', message: 'Another control has this name.' }] };
  }
  const problems = fieldViolations(error);
  if (problems === null) return { kind: 'failed', error };
  return {
    kind: 'refused',
    problems: problems.map(({ path, message }) => ({ path: path.replace(/^data\./, ''), message })),
  };
}
