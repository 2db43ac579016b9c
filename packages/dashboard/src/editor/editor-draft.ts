import type { EditorState } from './editor-state.js';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';

/** What the editor keeps of a control that is not saved. */
export interface EditorDraft {
  readonly name: string;
  readonly draft: JsonObject;
  /** The version that it started from; null for a new control. */
  readonly version: bigint | null;
  /** The agent that a new control is linked to. Blank: none. */
  readonly linkTo: string;
}

/** Where the draft of a control is kept; that of a new one without an id. */
export function editorPlace(controlId: number | null): string {
  return controlId === null ? 'new control' : `control ${controlId}`;
}

export function keptEditorDraft(
  { name, draft }: EditorState,
  version: bigint | undefined,
  linkTo: string,
): JsonObject {
  return { name, draft, linkTo, version: version === undefined ? null : String(version) };
}

/** A kept draft; null if it is in no form that is known. */
export function readEditorDraft(value: JsonValue): EditorDraft | null {
  if (!isJsonObject(value)) return null;
  const { name, draft, linkTo, version } = value;
  if (typeof name !== 'string' || typeof linkTo !== 'string') return null;
  if (draft === undefined || !isJsonObject(draft)) return null;
  if (version !== null && (typeof version !== 'string' || !/^\d{1,18}$/.test(version))) return null;
  return { name, draft, linkTo, version: version === null ? null : BigInt(version) };
}
