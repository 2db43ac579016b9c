import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentKey } from '../../contract/call/namespace.js';
import type { Scoped } from '../../storage/database/scoped.js';
import type { RegistrationNotes } from '../controls/control-review.js';
import { type ControlDefinition, leavesOf } from '../controls/definition/definition.js';
import type { RegisteredTypesOf } from '../controls/expression-inspection.js';
import { type AgentPlace, createAgentStore } from './agent-store.js';
import { expressionNotes } from './expression-notes.js';
import { registeredTypes } from './expression-types.js';
import { isBuiltInType, stepNotes } from './step-notes.js';
import { addSteps, emptyCatalogue, type StepCatalogue } from './steps-catalogue.js';

/** Agents whose registrations are compared with a definition, newest first. */
export const MAX_COMPARED_AGENTS = 500;
/** Most characters of their registrations in total: reading and parsing that many takes some 40 ms. */
const MAX_COMPARED_LENGTH = 4_000_000;
/** Longest registration that is read, in characters: some hundred steps. */
const MAX_REGISTRATION_LENGTH = 100_000;
/** Agents read per turn of the event loop. */
const PAGE_SIZE = 20;

/**
 * Compares definitions with the registrations of agents. Nothing is read for a definition that contains
 * nothing agents register.
 */
export function createRegistrationNotes(catalogueOf = readCatalogue): RegistrationNotes {
  return async (scope, definition) => {
    if (!namesSteps(definition)) return { notes: [], refused: [] };
    try {
      const catalogue = await catalogueOf(scope);
      const { notes, refused } = expressionNotes(definition, catalogue);
      return { notes: [...stepNotes(definition, catalogue), ...notes], refused };
    } catch {
      // The change itself reports a problem of the database, if it depends on it.
      const message = 'the registrations of agents could not be read, so nothing was compared with them';
      return { notes: [{ code: 'registrations_not_read', field: 'data', message }], refused: [] };
    }
  };
}

/** The same for the definitions of one request in one namespace: the registrations are read once. */
export function createSharedRegistrationNotes(): RegistrationNotes {
  let read: Promise<StepCatalogue> | undefined;
  return createRegistrationNotes((scope) => {
    read ??= readCatalogue(scope);
    return read;
  });
}

/** Reads the types of the steps that agents of a namespace have registered. */
export function createRegisteredTypes(): RegisteredTypesOf {
  return async (scope, of) => {
    try {
      return registeredTypes(of, await readCatalogue(scope));
    } catch {
      // An expression is then judged without schemas, as its reply says.
      return null;
    }
  };
}

/** Whether a definition contains anything comparable with registrations. */
function namesSteps({ scope, condition }: ControlDefinition): boolean {
  const { step_types: types = [], step_names: names = [], step_name_regex: regex = '' } = scope ?? {};
  if (names.length > 0 || regex !== '' || types.some((type) => !isBuiltInType(type))) return true;
  for (const { leaf } of leavesOf(condition, '')) {
    if (leaf.evaluator.name === 'cel') return true;
    if (/^(?:input|output)\./.test(leaf.selector.path ?? '')) return true;
  }
  return false;
}

/** The steps of the newest agents of the namespace. */
export async function readCatalogue(scope: Scoped): Promise<StepCatalogue> {
  const catalogue = emptyCatalogue('any agent');
  const isComplete = await readRegistrations(scope, ({ data }) => {
    if (data !== null) addSteps(catalogue, data);
  });
  return { ...catalogue, isComplete };
}

/** Reads the registrations of the newest agents of the namespace. Whether these are all; too long ones have no data. */
export async function readRegistrations(
  scope: Scoped,
  use: (row: { readonly key: AgentKey; readonly data: string | null }) => void,
): Promise<boolean> {
  const store = createAgentStore(scope);
  let last: AgentPlace | null = null;
  let agents = 0;
  let length = 0;
  let isComplete = true;
  for (;;) {
    const rows = await store.newestBefore(last, PAGE_SIZE, MAX_REGISTRATION_LENGTH);
    for (const { data, ...place } of rows) {
      last = place;
      agents += 1;
      length += data?.length ?? 0;
      if (data === null) isComplete = false;
      use({ key: place.key, data });
    }
    if (rows.length < PAGE_SIZE) return isComplete;
    if (agents >= MAX_COMPARED_AGENTS || length >= MAX_COMPARED_LENGTH) return false;
    await nextTurn();
  }
}
