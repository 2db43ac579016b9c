import {
  type ConditionNode,
  hasNode,
  type NodePath,
  newCheck,
  reconciled,
  withNode,
} from './condition-tree.js';
import { givenMember, isJsonObject, type JsonObject, type JsonValue, objectWith } from './json.js';

const MAX_UNDO = 200;

/** What the form shows: a node of the condition or, with null, the control itself. */
export type Selection = NodePath | null;

/** A state of the draft that can be returned to. */
export interface Snapshot {
  readonly name: string;
  readonly draft: JsonObject;
  readonly selected: Selection;
}

export interface EditorState extends Snapshot {
  readonly past: readonly Snapshot[];
  readonly future: readonly Snapshot[];
  /** What the last edit changed. Further edits of the same do not become steps of undo of their own. */
  readonly lastEdit: string | null;
}

export type EditorAction =
  | { readonly type: 'select'; readonly selected: Selection }
  | { readonly type: 'rename'; readonly name: string }
  /** Replaces the definition, for example by what was typed as JSON. */
  | { readonly type: 'replace'; readonly draft: JsonObject; readonly merge?: string }
  /** Replaces the condition and selects a node. */
  | { readonly type: 'edit-tree'; readonly root: ConditionNode; readonly path: NodePath }
  /** Sets one member of the definition, or of an object in it. Undefined removes it. */
  | { readonly type: 'set'; readonly members: readonly string[]; readonly value: JsonValue | undefined }
  /** Replaces a node by another state of it. */
  | {
      readonly type: 'set-node';
      readonly path: NodePath;
      readonly node: ConditionNode;
      readonly merge: string;
    }
  | { readonly type: 'undo' }
  | { readonly type: 'redo' }
  /** Takes another state as if it was loaded. */
  | { readonly type: 'load'; readonly name: string; readonly draft: JsonObject };

export function loadedState(name: string, draft: JsonObject, selected: Selection = null): EditorState {
  return { name, draft, selected, past: [], future: [], lastEdit: null };
}

/** The draft of a control that does not exist yet. It denies nothing before its writer has chosen so. */
export function newDraft(): JsonObject {
  return { condition: newCheck(), enabled: true, execution: 'server', action: { decision: 'observe' } };
}

export function conditionOf(draft: JsonObject): ConditionNode {
  return givenMember(draft, 'condition');
}

export function editorReducer(state: EditorState, action: EditorAction): EditorState {
  const { draft } = state;
  switch (action.type) {
    case 'select':
      return { ...state, selected: action.selected, lastEdit: null };
    case 'rename':
      return edited(state, { name: action.name }, 'name');
    case 'replace':
      return edited(state, { draft: reconciled(draft, action.draft) }, action.merge ?? null);
    case 'edit-tree': {
      const condition = action.root ?? null;
      return edited(state, { draft: objectWith(draft, 'condition', condition), selected: action.path }, null);
    }
    case 'set':
      return edited(
        state,
        { draft: withValue(draft, action.members, action.value) },
        action.members.join('.'),
      );
    case 'set-node': {
      const condition = withNode(conditionOf(draft), action.path, action.node) ?? null;
      const merge = `${action.path.join('.')} ${action.merge}`;
      return edited(state, { draft: objectWith(draft, 'condition', condition) }, merge);
    }
    case 'undo':
      return steppedBack(state);
    case 'redo':
      return steppedForward(state);
    case 'load':
      return { ...loadedState(action.name, action.draft), past: remembered(state) };
  }
}

function edited(state: EditorState, change: Partial<Snapshot>, merge: string | null): EditorState {
  if (change.draft === state.draft && change.name === undefined) return state;
  const isSameEdit = merge !== null && merge === state.lastEdit;
  const next = { ...snapshotOf(state), ...change };
  const past = isSameEdit ? state.past : remembered(state);
  return { ...next, selected: existing(next), past, future: [], lastEdit: merge };
}

function steppedBack(state: EditorState): EditorState {
  const snapshot = state.past.at(-1);
  if (snapshot === undefined) return state;
  const future = [snapshotOf(state), ...state.future];
  return { ...snapshot, past: state.past.slice(0, -1), future, lastEdit: null };
}

function steppedForward(state: EditorState): EditorState {
  const [snapshot, ...future] = state.future;
  if (snapshot === undefined) return state;
  return { ...snapshot, past: remembered(state), future, lastEdit: null };
}

function remembered(state: EditorState): readonly Snapshot[] {
  return [...state.past, snapshotOf(state)].slice(-MAX_UNDO);
}

function snapshotOf({ name, draft, selected }: Snapshot): Snapshot {
  return { name, draft, selected };
}

/** The selected node, or the nearest one above it that exists. */
function existing({ draft, selected }: Snapshot): Selection {
  if (selected === null) return null;
  let path = selected;
  while (!hasNode(conditionOf(draft), path)) path = path.slice(0, -1);
  return path;
}

/** A copy with one member of a nested object set. An object that loses its last member is removed with it. */
function withValue(object: JsonObject, members: readonly string[], value: JsonValue | undefined): JsonObject {
  const [name, ...rest] = members;
  if (name === undefined) return object;
  if (rest.length === 0) return objectWith(object, name, value);
  const before = givenMember(object, name);
  const inner = withValue(isJsonObject(before) ? before : {}, rest, value);
  const isGone = value === undefined && Object.keys(inner).length === 0;
  return objectWith(object, name, isGone ? undefined : inner);
}
